import Synchronization
import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernStorageMemory
import TernTransport
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

/// Sends frames as soon as its link is open, and reads nothing of the answers.
private final class Talker: LinkHandler {
  private let link = Mutex<(any Link)?>(nil)

  func begin(_ link: any Link, _ frames: [[UInt8]]) {
    self.link.withLock { $0 = link }
    link.send(contentsOf: frames)
    link.flush()
  }

  func close() { link.withLock { $0?.close() } }

  func linkDidReceive(_ frames: [[UInt8]]) {}
  func linkDidClose(_ reason: LinkClosure) {}
}

/// Connections that end in every state leave nothing behind; see also those over sockets.
@Suite("Endings in memory") struct LoopbackEndingsTests {
  private static func request(_ number: UInt64, _ request: TreeRequest) -> [UInt8] {
    TreeClientMessage.request(number, request).encode()
  }

  private static func document(_ body: DocumentRequest.Body, _ call: UInt32) -> [[UInt8]] {
    guard case .listen = body else {
      let message = DocumentRequest(body, in: benchDatabase).encode()
      let opening = DocumentCallOpening(.commit, message: message)
      return [DocumentClientFrame.open(stream: call, opening).encode()]
    }
    let message = DocumentRequest(body, in: benchDatabase).encode()
    return [
      DocumentClientFrame.open(stream: call, DocumentCallOpening(.listen)).encode(),
      DocumentClientFrame.message(stream: call, message).encode(),
    ]
  }

  /// Frames after which a connection ends.
  private static func beginnings() throws -> [[[UInt8]]] {
    let opening = TreeClientMessage.open(TreeOpening(namespace: "n")).encode()
    let query = try TreeQuery.all.ordered(by: .key).first(3)
    let listen = request(1, .listen(TreeListen(path: "a", query: query, tag: 1)))
    let large = TreeNode(.string(String(repeating: "x", count: 70_000)))
    let target = WatchTarget(id: 1, subject: .documents(["c/d"]))
    return [
      [], [opening], [opening, listen],
      [opening, request(1, .listen(TreeListen(path: "a")))],
      [opening, request(1, .put("a/b", TreeNode(.integer(1)), expectedHash: nil, .none))],
      // Decoded away from the executor, with the end of the link behind it.
      [opening, request(1, .put("c", large, expectedHash: nil, .none)), listen],
      [opening, request(1, .onDisconnectSet("d", .empty))],
      [Array("GET / HTTP/1.1".utf8)], [opening, opening],
      document(.listen(.add(target)), 1), document(.commit([], transaction: [], nil), 1),
    ]
  }

  @Test(
    "20,000 connections leave no link, session, slot or byte, however they end",
    .timeLimit(.minutes(10)))
  func leftovers() async throws {
    let transport = LoopbackTransport()
    let server = try await TernServer(
      ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: transport)
    try await server.listen(on: transport)
    let beginnings = try Self.beginnings()
    let rounds = 20
    for round in 0..<rounds {
      var talkers: [Talker] = []
      for index in 0..<1_000 {
        let talker = Talker()
        talkers.append(talker)
        // Large frames take most of the time, so few send them.
        let kind = (index + round) % beginnings.count
        let frames = kind == 5 && index > 20 ? [] : beginnings[kind]
        try await transport.connect { link in
          talker.begin(link, frames)
          return talker
        }
        if round % 4 == 1 { talker.close() }
      }
      switch round % 4 {
      case 0: transport.cut()
      case 1: break
      case 2: for talker in talkers { talker.close() }
      // Some say goodbye and the network takes the others.
      default:
        for talker in talkers.prefix(500) { talker.close() }
        transport.cut()
      }
    }
    let deadline = ContinuousClock.now + .seconds(300)
    var left = [-1]
    while left != [0, 0, 0, 0, 0], ContinuousClock.now < deadline {
      // Behind everything that waits already.
      await server.settle()
      left = await server.leftovers()
    }
    #expect(left == [0, 0, 0, 0, 0], "links, sessions, ending ones, slots, bytes")
    await server.stop()
  }
}

extension TernServer {
  /// Returns when a request that was made now is answered.
  fileprivate func settle() async {
    await withCheckedContinuation { done in
      ask(DirectRequest(namespace: "n", isLocal: true, .names("a", after: nil, limit: 1))) { _ in
        done.resume()
      }
    }
  }

  fileprivate func leftovers() -> [Int] {
    [linkCount, sessionCount, batches.machine.sessions.ending.count, slotsInUse, budget.usedBytes]
  }
}
