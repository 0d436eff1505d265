import Synchronization
import TernAssembly
import TernClient
import TernSync
import TernTransport
import TernTransportTCP

/// The reason there is no server, as far as a command knows; other notices are printed.
final class ConnectionNews: Sendable {
  /// The address of the server, or all of them with commas between.
  let address: String
  private let hasAlternatives: Bool
  private let isSecured: Bool
  /// The failures since the start, of each address the last one, in their order.
  private let failures = Mutex<[TransportError]>([])
  /// The reason that the server gave last for what it does not do.
  private let said = Mutex<String?>(nil)
  /// The damage of the queue of documents, without which the client has opened.
  private let damage = Mutex<QueueError?>(nil)

  init(_ configuration: Configuration) {
    let members = configuration.transport.members
    let port = members["port"].map { $0.stringValue ?? $0.canonicalText } ?? "9000"
    let host = members["host"]?.stringValue ?? "127.0.0.1"
    let places = try? TCPAddress.list(host, defaultPort: Int(port) ?? 9_000)
    address = places?.map(\.description).joined(separator: ",") ?? "\(host):\(port)"
    hasAlternatives = places.map { $0.count > 1 } ?? false
    isSecured = members["tls"] != nil
  }

  /// The address of the server in a sentence about it.
  var addressText: String { hasAlternatives ? "one of \(address)" : address }

  /// The damage of the queue of documents; `nil` when it is well.
  var documentQueueDamage: QueueError? { damage.withLock { $0 } }

  /// Hears what a client has to tell a developer.
  func take(_ notice: ClientNotice) {
    switch notice {
    case .notConnected(let error):
      failures.withLock { failures in
        failures.removeAll { $0.place == error.place }
        failures.append(error)
      }
    case .serverSays(let text):
      said.withLock { $0 = text }
      printError("note: \(notice)")
    case .documentQueueUnusable(_, .damaged(let id)): damage.withLock { $0 = .damaged(id: id) }
    case .documentQueueUnusable(_, .damagedHeader): damage.withLock { $0 = .damagedHeader }
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
    let failures = failures.withLock { $0 }
    if hasAlternatives, !failures.isEmpty {
      return failures.map(\.description).joined(separator: "; ")
    }
    return switch failures.last {
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

extension TransportError {
  /// The address that an attempt to connect failed at; `nil` for other errors.
  fileprivate var place: TCPAddress? {
    switch self {
    case .refused(let host, let port), .timedOut(let host, let port, _),
      .unreachable(let host, let port, _), .notSecure(let host, let port, _):
      TCPAddress(host: host, port: port)
    case .addressInUse, .cannotListen, .invalidOption, .notBuilt, .tooManyConnections, .shutDown:
      nil
    }
  }
}
