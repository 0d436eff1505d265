import Logging
import Synchronization
import TernAssembly
import TernTransport
import TernTransportTCP

/// The certificate a server shows: read again when its files change, and at SIGHUP.
final class ServedCertificate: Sendable {
  private let paths: [String]
  private let transport = Mutex<(any Transport)?>(nil)

  init(_ configuration: Configuration) {
    let members = configuration.transport.members["tls"]?.members ?? [:]
    paths = ["certificate", "key"].compactMap { members[$0]?.stringValue }
  }

  /// Names whose certificate it is.
  func use(_ transport: any Transport) { self.transport.withLock { $0 = transport } }

  /// Follows the files; `nil` when there are none. Who is connected notices nothing.
  func follow() -> FileWatch? {
    if paths.isEmpty { return nil }
    return FileWatch(paths) { self.reload() }
  }

  private func reload() {
    #if TCP
      guard let transport = transport.withLock({ $0 }) as? TCPTransport else { return }
      do throws(TransportError) {
        try transport.reloadCertificate()
        OperatorLog.tell("the certificate was read again")
      } catch {
        OperatorLog.tell("\(error); the certificate before stays in use", .error)
      }
    #endif
  }
}
