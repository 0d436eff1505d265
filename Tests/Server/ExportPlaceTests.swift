import Synchronization
import TernCore
import TernLedger
import TernStorageMemory
import TernSync
import TernTestKit
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

/// Exports keep a thread and a snapshot each: readers that take nothing give their place up.
@Suite("Places of exports", .timeLimit(.minutes(10))) struct ExportPlaceTests {
  /// A reader of an export that takes what it is told, or nothing.
  private final class Reader: Sendable {
    private struct State {
      var bytes = 0
      var end: String?
      var waiting: (bytes: Int, CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    /// The outcome of the export; `nil` while it continues.
    var end: String? { state.withLock { $0.end } }

    func hear(_ event: TreeExport.Event) {
      state.withLock { state in
        switch event {
        case .piece(let bytes): state.bytes += bytes.count
        case .end: state.end = "end"
        case .failed(let error): state.end = "\(error)"
        case .refused(let refusal): state.end = "\(refusal)"
        case .withdrawn: state.end = "withdrawn"
        }
        guard let waiting = state.waiting, state.bytes >= waiting.bytes || state.end != nil else {
          return nil as CheckedContinuation<Void, Never>?
        }
        state.waiting = nil
        return waiting.1
      }?.resume()
    }

    /// Waits until so many bytes were told, or it has ended.
    func hasHeard(_ bytes: Int) async {
      await withCheckedContinuation { done in
        let isReady = state.withLock { state in
          if state.bytes >= bytes || state.end != nil { return true }
          state.waiting = (bytes, done)
          return false
        }
        if isReady { done.resume() }
      }
    }
  }

  private let clock = ManualClock()

  private func withServer(
    exports: Int, _ body: (TernServer) async throws -> Void
  ) async throws {
    let transport = LoopbackTransport()
    let limits = ServerLimits(wholeReadBytes: 10_000, exports: exports)
    #expect(limits.exportStallMilliseconds == 2_000)
    let environment = RuntimeEnvironment(
      millisecondsSinceEpoch: { 0 }, clock: clock,
      randomBits: RuntimeEnvironment.system.randomBits)
    let server = try await TernServer(
      ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: transport,
      options: ServerOptions(limits: limits), ambient: environment)
    try await server.listen(on: transport)
    let writer = try await RawClient.connect(transport)
    let text = TreeNode(.string(String(repeating: "x", count: 200_000)))
    for number in 0..<4 {
      writer.request(
        .put(
          TreePath(unchecked: [TreeKey(unchecked: "big"), TreeKey(unchecked: "\(number)")]), text,
          expectedHash: nil, .none))
      #expect(await writer.next()?.brief == "ok")
    }
    try await body(server)
    await server.stop()
  }

  private func export(
    _ server: TernServer, at address: String, _ reader: Reader = Reader()
  ) async -> (reader: Reader, export: TreeExport)? {
    let export = await server.export("big", .value, of: "default", at: address) { reader.hear($0) }
    return export.map { (reader, $0) }
  }

  /// Waits until a reader was told all that it may be told without taking anything.
  private func stall(_ open: (reader: Reader, export: TreeExport)) async {
    await open.reader.hasHeard(TreeExport.aheadBytes)
    while open.export.untakenBytes < TreeExport.aheadBytes { await Task.yield() }
  }

  @Test("a reader that took nothing for the patience gives its place up, and hears of it")
  func stalled() async throws {
    try await withServer(exports: 2) { server in
      let first = try #require(await export(server, at: "a"))
      let second = try #require(await export(server, at: "b"))
      for open in [first, second] { await stall(open) }
      #expect(await export(server, at: "c") == nil, "nobody has stalled for long")
      clock.advance(by: .milliseconds(2_000))
      #expect(await export(server, at: "c") == nil, "nobody has stalled for longer than that")
      // The second goes on reading.
      second.export.take(1)
      clock.advance(by: .milliseconds(1))
      let third = try #require(await export(server, at: "c"))
      await first.reader.hasHeard(.max)
      #expect(first.reader.end == "withdrawn")
      #expect(second.reader.end == nil && third.reader.end == nil)
    }
  }

  @Test("an address with many places gives one up for another after a tenth of the patience")
  func greedy() async throws {
    try await withServer(exports: 3) { server in
      var greedy: [(reader: Reader, export: TreeExport)] = []
      for _ in 0..<3 { greedy.append(try #require(await export(server, at: "greedy"))) }
      for open in greedy { await stall(open) }
      clock.advance(by: .milliseconds(201))
      #expect(await export(server, at: "greedy") == nil, "it has all the places itself")
      let other = try #require(await export(server, at: "other"))
      #expect(other.reader.end == nil)
      var ended = 0
      while ended == 0 {
        await Task.yield()
        ended = greedy.count { $0.reader.end == "withdrawn" }
      }
      #expect(ended == 1)
    }
  }

  @Test("a reader that takes what it is told keeps its place however long it reads")
  func reading() async throws {
    try await withServer(exports: 1) { server in
      let open = try #require(await export(server, at: "a"))
      var taken = 0
      while open.reader.end == nil {
        await open.reader.hasHeard(taken + 1)
        clock.advance(by: .milliseconds(1_900))
        #expect(await export(server, at: "b") == nil || open.reader.end == "end")
        open.export.take(TreeExport.pieceBytes)
        taken += TreeExport.pieceBytes
      }
      #expect(open.reader.end == "end")
    }
  }
}
