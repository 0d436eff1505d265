import Synchronization
import TernCommitLog
import TernLedger
import TernLogMemory
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernSharedLedger

@Suite("clocks of nodes and of the log")
struct ClockWatchTests {
  private func sample(_ offset: Int64, after took: Int64, at uptime: Int64) -> ClockWatch.Sample {
    ClockWatch.Sample(
      log: 1_000 + offset + took / 2, machine: 1_000, asked: uptime - took, answered: uptime)
  }

  @Test("the best comparison counts, until a clock is set or it is old")
  func samples() {
    let watch = ClockWatch()
    #expect(watch.offset == nil)
    watch.note(sample(20_000, after: 400, at: 1_000))
    #expect(watch.offset == 20_000)
    watch.note(sample(20_100, after: 10, at: 2_000))
    #expect(watch.offset == 20_100)
    watch.note(sample(19_950, after: 400, at: 3_000))
    #expect(watch.offset == 20_100, "less certain")
    watch.note(sample(3, after: 400, at: 4_000))
    #expect(watch.offset == 3, "the clock was set")
    watch.note(sample(5, after: 10, at: 5_000))
    watch.note(sample(150, after: 400, at: 64_999))
    #expect(watch.offset == 5)
    watch.note(sample(150, after: 400, at: 65_000))
    #expect(watch.offset == 150, "the other one is old")
  }

  @Test("a node knows how far its clock is off, and says so", arguments: [-17_000, 0, 17_000])
  func standing(offset: Int64) async throws {
    let clock = JumpingClock()
    let memory = LogMemory(clock: clock, uptime: { clock.milliseconds }, time: { 1_000_000 })
    var options = SharedLedgerOptions(node: "node", address: "node:9000")
    options.checkpointBatches = 2
    let ledger = SharedLedger(
      log: memory.node("node"), store: MemoryStore(), options: options,
      environment: NodeEnvironment(
        clock: clock, uptime: { clock.milliseconds }, randomBits: { 7 },
        time: { 1_000_000 - offset }))
    #expect(ledger.standing.clockOffset == nil)
    for _ in 0..<4 { _ = await ledger.step() }
    #expect(ledger.standing.clockOffset == offset)
    let side = offset > 0 ? "behind" : "ahead of"
    let text = "the clock of the machine is 17000 ms \(side) that of the log"
    #expect(ledger.standing.trouble == (offset == 0 ? nil : text))
    await ledger.close()
  }

  @Test("a log that does not tell the time is not compared with")
  func untold() async throws {
    let cluster = TestCluster()
    let node = cluster.node()
    await node.follow()
    #expect(node.ledger.standing.clockOffset == nil)
    #expect(node.ledger.standing.trouble == nil)
  }
}
