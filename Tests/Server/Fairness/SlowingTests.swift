import Synchronization
import TernCore
import TernLedger
import TernStorageMemory
import TernSync
import TernTestKit
import TernTransport
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

/// A client above its share is not read from at first, and closed when that does not help.
@Suite("Slowed clients", .timeLimit(.minutes(10))) struct SlowingTests {
  private final class Ends: Sendable { let reasons = Mutex<[SessionEnd]>([]) }

  private final class Bench: Sendable {
    let transport = LoopbackTransport()
    let server: TernServer
    let ends = Ends()
    let clock = ManualClock()

    init() async throws {
      let limits = ServerLimits(memoryBytes: 16 << 20, memoryBytesPerAddress: 2 << 20)
      let system = RuntimeEnvironment.system
      let ambient = RuntimeEnvironment(
        millisecondsSinceEpoch: system.millisecondsSinceEpoch, clock: clock,
        randomBits: system.randomBits)
      server = try await TernServer(
        ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: transport,
        options: ServerOptions(limits: limits), ambient: ambient,
        report: { [ends] event in
          guard case .disconnected(_, let reason) = event else { return }
          ends.reasons.withLock { $0.append(reason) }
        })
      try await server.listen(on: transport)
    }

    func pass(_ milliseconds: Int64) async {
      clock.advance(by: .milliseconds(milliseconds))
      await server.closeOverdue()
    }
  }

  @Test("a link with many short frames is not read from until few of them wait")
  func shortFrames() async throws {
    let bench = try await Bench()
    let client = try await RawClient.connect(bench.transport)
    let count = 5 * InboxPressure.frames
    for _ in 0..<count { client.send(.ping) }
    for _ in 0..<count {
      guard await client.next()?.brief == "pong" else {
        Issue.record("a frame was lost")
        break
      }
    }
    client.send(.ping)
    #expect(await client.next()?.brief == "pong")
    await bench.server.stop()
  }

  @Test("many frames of a link count as pressure, however short they are")
  func pressure() async throws {
    let bench = try await Bench()
    let client = try await RawClient.connect(bench.transport)
    let isHigh = await bench.server.fill(InboxPressure.frames + 1)
    // Before, behind so many, with all of them still there, and with few.
    #expect(isHigh == [false, true, true, false])
    client.send(.ping)
    #expect(await client.next()?.brief == "pong")
    await bench.server.stop()
  }

  @Test("a connection at an address above its share is read from when the address holds less")
  func connection() async throws {
    let bench = try await Bench()
    let first = try await RawClient.connect(bench.transport)
    bench.server.budget.count(3 << 20, .answers, to: "loopback")
    let late = Task { try await RawClient.connect(bench.transport) }
    while await bench.server.linkCount < 2 { await Task.yield() }
    await bench.pass(4_000)
    #expect(await bench.server.sessionCount == 2)
    #expect(bench.ends.reasons.withLock { $0.isEmpty }, "slowed, not closed")
    first.send(.ping)
    #expect(await first.next()?.brief == "pong", "who was there before goes on")
    bench.server.budget.release(3 << 20, .answers, of: "loopback")
    await bench.pass(100)
    let client = try await late.value
    client.send(.ping)
    #expect(await client.next()?.brief == "pong")
    await bench.server.stop()
  }

  @Test("a connection that stays above the share is closed with a reason when its time is over")
  func overdue() async throws {
    let bench = try await Bench()
    let first = try await RawClient.connect(bench.transport)
    bench.server.budget.count(3 << 20, .answers, to: "loopback")
    let late = Task { try await RawClient.connect(bench.transport) }
    while await bench.server.linkCount < 2 { await Task.yield() }
    await bench.pass(5_000)
    let client = try await late.value
    #expect(await client.next() == nil)
    #expect(bench.ends.reasons.withLock { $0 } == [.overShare(limitBytes: 2 << 20)])
    first.send(.ping)
    #expect(await first.next()?.brief == "pong")
    await bench.server.stop()
  }
}

extension TernServer {
  /// Puts empty frames of its first link into the inbox, which is not drained meanwhile.
  ///
  /// - Returns: Whether the link is under pressure before and behind them; whether it is still not
  ///   read from when one was decided, and when all were.
  fileprivate func fill(_ count: Int) -> [Bool] {
    guard let state = links.known(0) else { return [] }
    let before = InboxPressure.isHigh(state, at: self)
    for _ in 0..<count { inbox.append(.frame(slot: 0, [])) }
    let behind = InboxPressure.isHigh(state, at: self)
    state.pause()
    InboxPressure.release([.frame(slot: 0, [])], at: self)
    let isPaused = state.isPaused
    _ = inbox.takeAll()
    InboxPressure.release([.frame(slot: 0, [])], at: self)
    return [before, behind, isPaused, state.isPaused]
  }
}
