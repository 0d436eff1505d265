import Synchronization
import TernTransport

/// The server's end of one link: hands what happens there to the server.
final class ServerLink: LinkHandler {
  let link: any Link
  /// The link's place in the server's tables, its own until the server has let it go.
  let slot: Int
  private let acceptor: LinkAcceptor

  init(_ link: any Link, slot: Int, acceptor: LinkAcceptor) {
    self.link = link
    self.slot = slot
    self.acceptor = acceptor
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    acceptor.pass(.received(slot: slot, frames))
  }

  func linkDidDrain() {
    acceptor.pass(.drained(slot: slot))
  }

  func linkDidClose(_ reason: LinkClosure) {
    acceptor.pass(.closed(slot: slot, reason))
  }
}

/// Something that happened at a link.
enum LinkEvent: Sendable {
  case opened(ServerLink)
  case received(slot: Int, [[UInt8]])
  /// Most of what waited to be sent has left.
  case drained(slot: Int)
  case closed(slot: Int, LinkClosure)
  /// A long read went on beside the executor, and is done.
  case read(ReadJob)
}

/// The entry of one transport's events into the server.
///
/// Those of the server's own transport are on its executor already. Those of another one wait
/// here, in order, for one hop that takes all of them along.
///
/// `isAtHome` decides the way of every event: synchronously on the shared executor, or through the
/// mailbox. Events of one transport stay in order in both cases.
final class LinkAcceptor: Sendable {
  private let server: TernServer
  private let isAtHome: Bool
  private let waiting = Mailbox<LinkEvent>()

  init(to server: TernServer, from transport: any Transport) {
    self.server = server
    isAtHome = transport.executor === server.executor
  }

  func pass(_ event: LinkEvent) {
    if isAtHome {
      server.assumeIsolated { $0.take([event]) }
      return
    }
    if waiting.add(event) { Task { await server.take(from: self) } }
  }

  /// Hands over what waits; on the server.
  func takeWaiting() -> [LinkEvent] { waiting.takeAll() }

  /// Makes the server's end of a link that has just opened.
  func open(_ link: any Link) -> ServerLink {
    let handler = ServerLink(link, slot: server.slots.take(), acceptor: self)
    pass(.opened(handler))
    return handler
  }
}

/// Hands out small numbers, each to one holder at a time.
///
/// The transport's threads take slots and the server gives them back; a slot is reused only after
/// the machine knows of its link's end.
final class SlotTable: Sendable {
  private struct State {
    var free: [Int] = []
    var next = 0
  }

  private let state = Mutex(State())

  /// The number of indexes in use.
  var inUse: Int { state.withLock { $0.next - $0.free.count } }

  func take() -> Int {
    state.withLock { state in
      if let slot = state.free.popLast() { return slot }
      state.next += 1
      return state.next - 1
    }
  }

  func giveBack(_ slot: Int) {
    state.withLock { $0.free.append(slot) }
  }
}
