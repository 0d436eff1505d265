import TernTransport

/// A link to the node that leads, on behalf of one client of this node.
///
/// What happens there waits here, in order, for one hop that takes all of it to the server.
///
/// Events come on the transport's threads and are collected in a mailbox. A single task hands all
/// of them over, so that many small frames cost one hop to the server's executor.
final class LeaderLink: LinkHandler {
  /// Something that happened.
  enum Event: Sendable {
    case opened(any Link)
    case received([[UInt8]])
    case drained
    /// It has ended, or was never opened; the text says why.
    case ended(String)
  }

  /// The address of the node.
  let address: String
  /// The shard that it leads; `nil` for that of this node.
  let shard: UInt32?
  /// The place of the client's link, and its ``LinkState/number``.
  let slot: Int
  let number: Int
  private let server: TernServer
  private let waiting = Mailbox<Event>()

  init(
    to address: String, ofShard shard: UInt32? = nil, for state: LinkState, of server: TernServer
  ) {
    self.address = address
    self.shard = shard
    slot = state.slot
    number = state.number
    self.server = server
  }

  func linkDidReceive(_ frames: [[UInt8]]) { pass(.received(frames)) }

  func linkDidDrain() { pass(.drained) }

  func linkDidClose(_ reason: LinkClosure) { pass(.ended(reason.description)) }

  func pass(_ event: Event) {
    if waiting.add(event) { Task { await Self.handOver(self, to: server) } }
  }

  private static func handOver(_ link: LeaderLink, to server: isolated TernServer) {
    for event in link.waiting.takeAll() {
      if link.shard == nil {
        server.part.forwarder?.take(event, of: link, at: server)
      } else {
        server.part.shards?.take(event, of: link, at: server)
      }
    }
  }

  /// Opens the link to the leader, whichever that is by then.
  ///
  /// Never throws: a failed attempt is the event ``Event/ended(_:)``.
  ///
  /// - Parameter peer: The client, as its link names it.
  func open(over links: any LeaderLinks, for peer: String) {
    Task {
      do throws(TransportError) {
        let link = try await links.connect(to: address, for: peer) { _ in self }
        pass(.opened(link))
      } catch {
        pass(.ended(error.textWithoutAddress))
      }
    }
  }
}
