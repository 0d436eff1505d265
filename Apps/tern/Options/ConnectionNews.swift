import Synchronization
import TernAssembly
import TernClient
import TernTransport

/// Why there is no server, as far as a command knows; what else a client tells is printed.
final class ConnectionNews: Sendable {
  /// Where the server should be.
  private let address: String
  private let isSecured: Bool
  private let last = Mutex<TransportError?>(nil)

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
    default: printError("note: \(notice)")
    }
  }

  /// The failure of a command that needed the server.
  var failure: Failure {
    Failure(.unreachable, "the server cannot be reached: \(reason)")
  }

  private var reason: String {
    switch last.withLock({ $0 }) {
    case .refused?: "nobody listens at \(address); start one with: tern serve --dev"
    case let error?: "\(error)"
    case nil:
      "\(address) did not answer, or ended the connection; its log may say why"
        + (isSecured ? "" : ". A server that speaks TLS wants --tls")
    }
  }
}
