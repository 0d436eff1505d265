import Synchronization
import TernCore
import TernLedger
import TernStorageMemory
import TernTransport
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

/// A network that takes its time to listen: something happens before it is told that it has.
private final class SlowListening: Transport {
  let base = LoopbackTransport()
  private let meanwhile: @Sendable () async -> Void

  init(meanwhile: @escaping @Sendable () async -> Void) { self.meanwhile = meanwhile }

  var executor: any SerialExecutor { base.executor }

  func enqueue(_ work: @escaping @Sendable () -> Void) { base.enqueue(work) }

  func connect(_ open: @escaping LinkOpening) async throws(TransportError) -> any Link {
    try await base.connect(open)
  }

  func listen(
    _ accept: @escaping LinkOpening
  ) async throws(TransportError) -> any TransportListener {
    let listener = try await base.listen(accept)
    await meanwhile()
    return listener
  }

  func shutdown() async { await base.shutdown() }
}

/// A link whose other end is the test.
private final class HandLink: Link {
  let peer: String
  private let state = Mutex<[String]>([])

  init(_ peer: String) { self.peer = peer }

  var queuedBytes: Int { 0 }

  /// The server's messages, and the closure of the link.
  var said: [String] { state.withLock { $0 } }

  func send(_ frame: [UInt8]) {
    let brief = (try? TreeServerMessage.decode(frame))?.brief ?? "?"
    state.withLock { $0.append(brief) }
  }

  func flush() {}
  func setReading(_ on: Bool) {}
  func close() { state.withLock { $0.append("closed") } }
}

extension TernServer {
  /// Does something while nothing else happens on the server.
  fileprivate func hold(_ body: @Sendable (isolated TernServer) -> Void) { body(self) }
}

@Suite("Links of a server", .timeLimit(.minutes(10)))
struct AcceptorTests {
  @Test("a listener that opens while the server stops is closed again")
  func stoppedMeanwhile() async throws {
    let home = LoopbackTransport()
    let server = try await TernServer(
      ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: home)
    let slow = SlowListening { await server.stop() }
    await #expect(throws: ServerError.stopped) { try await server.listen(on: slow) }
    await #expect(throws: TransportError.refused(host: "loopback", port: 0)) {
      try await RawClient.connect(slow)
    }
  }

  @Test("links of a second transport are reported in their order, also those that ended meanwhile")
  func orderOfASecondTransport() async throws {
    let (home, other) = (LoopbackTransport(), LoopbackTransport())
    let events = Mutex<[String]>([])
    let server = try await TernServer(
      ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: home
    ) { event in
      let text =
        switch event {
        case .connected(let peer): "\(peer) is here"
        case .disconnected(let peer, _): "\(peer) is gone"
        case .failed(let error): "failed \(error)"
        case .ended, .diskFull, .diskHasRoom, .corrupt, .oldFormat, .unusableRules, .backupEnded,
          .hindered,
          .standingBy, .leading, .following:
          "\(event)"
        }
      events.withLock { $0.append(text) }
    }
    try await server.listen(on: home)
    let reader = try await RawClient.connect(home)
    reader.request(.listen(TreeListen(path: "room")))
    #expect(await reader.next()?.brief == "ok")
    events.withLock { $0 = [] }
    let acceptor = LinkAcceptor(to: server, from: other)
    let (short, long) = (HandLink("loopback#short"), HandLink("loopback#long"))
    let opening = TreeClientMessage.open(TreeOpening(stream: nil))
    // All of it happens before the server can look once.
    await server.hold { _ in
      let (first, second) = (acceptor.open(short), acceptor.open(long))
      for (name, link) in [("x", first), ("y", second)] {
        link.linkDidReceive([opening.encode()])
        for value in Int64(1)...20 {
          let path = TreePath(unchecked: ["room", name].map(TreeKey.init(unchecked:)))
          let write = TreeRequest.put(path, TreeNode(.integer(value)), expectedHash: nil, .none)
          link.linkDidReceive([TreeClientMessage.request(UInt64(value), write).encode()])
        }
      }
      let will = TreeClientMessage.request(21, .onDisconnectSet("room/x", .empty))
      first.linkDidReceive([will.encode()])
      first.linkDidClose(.closedByPeer)
      let last = TreeRequest.put("room/z", TreeNode(.bool(true)), expectedHash: nil, .none)
      second.linkDidReceive([TreeClientMessage.request(21, last).encode()])
    }
    var heard: [String: [String]] = [:]
    while heard["x"]?.last != "null" || heard["z"] == nil {
      let brief = try #require(await reader.next()?.brief)
      let words = brief.split(separator: " ")
      try #require(words.count == 3, "\(brief)")
      heard[String(words[1].dropFirst("room/".count)), default: []].append(String(words[2]))
    }
    #expect(heard["x"] == (1...20).map(String.init) + ["null"])
    #expect(heard["y"] == (1...20).map(String.init))
    #expect(heard["z"] == ["true"])
    #expect(
      events.withLock { $0 } == [
        "loopback#short is here", "loopback#long is here", "loopback#short is gone",
      ])
    // The one that goes on is answered, in order and to the end; the ended one is left alone.
    await server.hold { _ in }
    #expect(long.said.filter { $0 == "ok" }.count == 21 && !long.said.contains("closed"))
    await server.stop()
  }

  @Test("when one transport ends, its links end, and those of the others go on")
  func oneTransportEnds() async throws {
    let (home, other) = (LoopbackTransport(), LoopbackTransport())
    let server = try await TernServer(
      ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: home)
    try await server.listen(on: home)
    try await server.listen(on: other)
    let reader = try await RawClient.connect(home)
    reader.request(.listen(TreeListen(path: "room")))
    #expect(await reader.next()?.brief == "ok")
    let leaving = try await RawClient.connect(other)
    leaving.request(.put("room/x", TreeNode(.integer(1)), expectedHash: nil, .none))
    #expect(await leaving.next()?.brief == "ok")
    leaving.request(.onDisconnectSet("room/x", .empty))
    #expect(await leaving.next()?.brief == "ok")
    await other.shutdown()
    #expect(await leaving.next() == nil)
    #expect(await reader.next()?.brief == "put room/x 1")
    #expect(await reader.next()?.brief == "put room/x null")
    reader.request(.put("room/y", TreeNode(.integer(2)), expectedHash: nil, .none))
    #expect(await reader.next()?.brief == "put room/y 2")
    #expect(await reader.next()?.brief == "ok")
    await server.stop()
    #expect(await reader.next() == nil)
  }
}
