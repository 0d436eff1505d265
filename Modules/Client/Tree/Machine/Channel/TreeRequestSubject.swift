import TernTreeReplica

/// The subject of a request on the wire.
enum TreeRequestSubject: Sendable {
  case listen(ListenRequest)
  case unlisten(ListenRequest)
  case write(WriteID)
  case batch(UInt64)
  case read(OperationID)
  case disconnect(OperationID)
  /// An onDisconnect operation of an announcement.
  case presence(OperationID)
  /// The value of an announcement.
  case announcement(OperationID)
  /// A step of taking an announcement back.
  case departure(OperationID)
  /// The outcomes of the writes of a stream up to a number.
  case outcomes(of: UInt128, through: UInt64)
  /// The outcomes of a declared transaction's attempts.
  case transactionOutcomes(OperationID)
  /// A credential was shown.
  case credential(String)
  /// The former user was signed out.
  case signOut
}
