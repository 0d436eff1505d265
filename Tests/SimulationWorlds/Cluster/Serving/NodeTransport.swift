import Synchronization
import TernTransport

/// The transport of one node's server: the world accepts links in its name.
final class NodeTransport: Transport {
  private struct Listener: TransportListener {
    let address: String
    let transport: NodeTransport

    func close() async { transport.acceptor.withLock { $0 = nil } }
  }

  let executor: any SerialExecutor
  private let name: String
  private let acceptor = Mutex<LinkOpening?>(nil)

  init(_ name: String, on executor: NodeExecutor) {
    self.name = name
    self.executor = executor
  }

  /// Accepts a link.
  ///
  /// - Returns: `nil` while the server does not listen.
  func accept(_ link: any Link) -> (any LinkHandler)? {
    let open = acceptor.withLock { $0 }
    return open.map { $0(link) }
  }

  func enqueue(_ work: @escaping @Sendable () -> Void) { Task { work() } }

  func connect(_ open: @escaping LinkOpening) async throws(TransportError) -> any Link {
    throw .shutDown
  }

  func listen(
    _ accept: @escaping LinkOpening
  ) async throws(TransportError) -> any TransportListener {
    acceptor.withLock { $0 = accept }
    return Listener(address: name, transport: self)
  }

  func shutdown() async {}
}
