import Synchronization
package import TernTransport

/// Sends back what its links receive, and keeps the names of their peers.
package final class EchoServer: Sendable {
  private let names = Mutex<[String]>([])

  /// A server without links.
  package init() {}

  /// The peers of all links so far.
  package var peers: [String] { names.withLock { $0 } }

  /// Accepts a link.
  package func open(_ link: any Link) -> any LinkHandler {
    names.withLock { $0.append(link.peer) }
    return Echo(link)
  }

  private final class Echo: LinkHandler {
    private let link: any Link

    init(_ link: any Link) { self.link = link }

    func linkDidReceive(_ frames: [[UInt8]]) {
      link.send(contentsOf: frames)
      link.flush()
    }

    func linkDidClose(_ reason: LinkClosure) {}
  }
}
