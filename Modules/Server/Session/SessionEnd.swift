public import TernTreeWire

/// The reason a server ended a session.
public enum SessionEnd: Error, Hashable, Sendable {
  /// The link was closed by the client or broke; the text says how.
  case linkClosed(String)
  /// The client sent something that is no message.
  case garbage(WireError)
  /// The client sent a frame about documents, or a request without a session, that cannot be read;
  /// the text says why.
  case malformedFrame(String)
  /// The client sent something else before it opened its session, or opened it twice.
  case outOfTurn(String)
  /// The name of the database is empty, too long or holds control characters.
  case invalidNamespace(String)
  /// The client said nothing for the time that is taken for death.
  case silent(Duration)
  /// The client came back over another link.
  case replaced
  /// The client's credential no longer counts; the text gives the reason.
  case credentialEnded(String)
  /// The client does not read as fast as it listens.
  case tooSlow(queuedBytes: Int, limit: Int)
  /// The server is short of memory, and the client leaves more unread than others.
  case outOfMemory(queuedBytes: Int)
  /// The address of the client holds too much memory of the server already.
  case overShare(limitBytes: Int)
  /// An operator has closed the connection.
  case closedByOperator
  /// The server accepts no requests, and told the client the address to use.
  case sentAway(ServiceNotice)
  /// The server stops, or could not reach its store.
  case serverStopped(String)
}

extension SessionEnd: CustomStringConvertible {
  public var description: String {
    switch self {
    case .linkClosed(let reason): reason
    case .garbage(let error): "the client sent no message: \(error)"
    case .malformedFrame(let reason): "the client sent no frame: \(reason)"
    case .outOfTurn(let what): "the client sent \(what) out of turn"
    case .invalidNamespace(let name): "there can be no database named \(name.debugDescription)"
    case .silent(let duration): "the client was silent for \(duration)"
    case .credentialEnded(let reason): reason
    case .replaced: "the client came back over another link"
    case .tooSlow(let bytes, let limit):
      "the client left \(bytes) bytes unread, more than \(limit)"
    case .outOfMemory(let bytes):
      "the server is short of memory, and the client left \(bytes) bytes unread"
    case .overShare(let limit):
      "clients at one address may hold \(limit) bytes of the server's memory, and hold them"
    case .closedByOperator: "an operator has closed the connection"
    case .sentAway(.moved(let host)): "the databases are at \(host)"
    case .sentAway(.closed(let reason)): reason
    case .serverStopped(let reason): reason
    }
  }
}
