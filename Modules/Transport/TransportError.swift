/// The reason a transport could not open a link or a listener.
public enum TransportError: Error, Hashable, Sendable {
  /// Another listener has this address: choose another port, or stop the other program.
  case addressInUse(host: String, port: Int)
  /// The address cannot be listened at, for the reason the system gave: correct it.
  case cannotListen(host: String, port: Int, reason: String)
  /// No server listens at the address now: try again later.
  case refused(host: String, port: Int)
  /// No answer came in time: try again later.
  case timedOut(host: String, port: Int, after: Duration)
  /// The host's name or network is not reachable now: try again later.
  case unreachable(host: String, port: Int, reason: String)
  /// The other end answers, but cannot prove that it is the server, or speaks no TLS: check the
  /// certificates and the name. Nothing was sent.
  case notSecure(host: String, port: Int, reason: String)
  /// An option is outside its range: correct the configuration.
  case invalidOption(name: String, reason: String)
  /// The program was built without the package trait this transport needs: build it with it.
  case notBuilt(kind: String, trait: String)
  /// This end has as many connections as it may: close some, or try again later. Nothing was sent.
  case tooManyConnections(limit: Int)
  /// The transport was shut down; open another one.
  case shutDown
}

extension TransportError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .addressInUse(let host, let port):
      "\(host):\(port) is in use by another program"
    case .cannotListen(let host, let port, let reason):
      "cannot listen at \(host):\(port): \(reason)"
    case .refused(let host, let port):
      "no server listens at \(host):\(port)"
    case .timedOut(let host, let port, let duration):
      "\(host):\(port) did not answer within \(duration)"
    case .unreachable(let host, let port, let reason):
      "cannot reach \(host):\(port): \(reason)"
    case .notSecure(let host, let port, let reason):
      "\(host):\(port) cannot be talked to over TLS: \(reason)"
    case .invalidOption(let name, let reason):
      "transport option \(name): \(reason)"
    case .notBuilt(let kind, let trait):
      "transport \(kind) needs a build with the package trait \(trait)"
    case .tooManyConnections(let limit):
      "this end has as many connections as it may, of \(limit)"
    case .shutDown:
      "the transport was shut down"
    }
  }
}
