import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernSecurity

/// One call that has not ended. Lives and is used inside the machine only.
final class DocumentCall {
  let number: UInt32
  let method: DocumentMethod
  let identity: Identity
  /// What showed who asks; `nil` for nobody in particular.
  let accepted: AcceptedCredential?
  unowned let link: DocumentLink
  /// The database; `nil` until the first message named it.
  var room: DocumentRoom?
  /// Of a listen call: the number by which the watch knows it.
  var stream: Int?
  /// Of a listen call: when it was told something.
  private(set) lazy var pulse = ListenPulse()
  /// Of a write call: what was agreed on in the handshake.
  var handshake: Handshake?

  /// What a write call has agreed on.
  struct Handshake {
    /// The client's stream of writes; `nil` for a client that knows of none.
    let stream: UInt128?
    /// How many answers were given.
    var answers: UInt64 = 0
  }

  init(
    _ number: UInt32, _ method: DocumentMethod, _ identity: Identity,
    _ accepted: AcceptedCredential?, _ link: DocumentLink
  ) {
    self.number = number
    self.method = method
    self.identity = identity
    self.accepted = accepted
    self.link = link
  }

  var slot: Int { link.slot }

  func requester(in room: DocumentRoom) -> Requester {
    Requester(identity, isLocal: link.isLocal, namespace: room.database.resourceName)
  }
}

/// When a listen call was told something; shared with whoever tells many at once.
final class ListenPulse {
  /// In milliseconds of the uptime.
  var lastTold: Int64 = 0
  /// The round of snapshots in which it had its last one.
  var round: UInt64 = 0
}
