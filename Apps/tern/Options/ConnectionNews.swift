import Synchronization
import TernAssembly
import TernClient
import TernTransport

/// The reason there is no server, as far as a command knows; other notices are printed.
final class ConnectionNews: Sendable {
  /// The address of the server.
  let address: String
  private let isSecured: Bool
  private let last = Mutex<TransportError?>(nil)
  /// The reason that the server gave last for what it does not do.
  private let said = Mutex<String?>(nil)

  init(_ configuration: Configuration) {
    let members = configuration.transport.members
    let port = members["port"].map { $0.stringValue ?? $0.canonicalText } ?? "9000"
    address = "\(members["host"]?.stringValue ?? "127.0.0.1"):\(port)"
    isSecured = members["tls"] != nil
  }

  /// Hears what a client has to tell a developer.
  func take(_ notice: ClientNotice) {
    switch notice {
    case .notConnected(let error): last.withLock { $0 = error }
    case .serverSays(let text):
      said.withLock { $0 = text }
      printError("note: \(notice)")
    default: printError("note: \(notice)")
    }
  }

  /// The failure of a command that needed the server.
  var failure: Failure {
    if let said = said.withLock({ $0 }) {
      return Failure(.failed, "the server does not do it now: \(said)")
    }
    return Failure(.unreachable, "the server cannot be reached: \(reason)")
  }

  private var reason: String {
    switch last.withLock({ $0 }) {
    case .refused?: "no server listens at \(address); start one with: tern serve --dev"
    case .notSecure(_, _, let reason)? where reason.contains("certificate"):
      "\(address): \(reason); give --ca FILE for a certificate of your own"
    case let error?: "\(error)"
    case nil:
      "\(address) did not answer, or ended the connection; its log may say why"
        + (isSecured ? "" : ". A server that speaks TLS wants --tls, an HTTP proxy ws://HOST:PORT")
    }
  }
}
