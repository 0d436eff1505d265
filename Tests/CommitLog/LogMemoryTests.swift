import Synchronization
import TernCommitLog
import TernLogMemory
import TernTestKit
import Testing

private let shard = ShardID(7)

private func draft(_ id: UInt128) -> LogBatch.Draft {
  LogBatch.Draft(id: id, payload: Array("batch \(id)".utf8))
}

private func memory() -> LogMemory { LogMemory(clock: ManualClock(), uptime: { 0 }) }

/// Gives out faults in order, one for each append.
private final class AppendFaults: Sendable {
  private let left: Mutex<[LogFault?]>

  init(_ faults: [LogFault?]) { left = Mutex(faults) }

  func next(_ operation: LogOperation) -> LogFault? {
    guard operation.kind == .append else { return nil }
    return left.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}

@Suite("faults of a log in memory")
struct LogMemoryTests {
  @Test("each fault of an append does to the log what it says")
  func faultsOfAppends() async throws {
    let memory = memory()
    let expected: [(LogFault, CommitLogError, now: UInt64, later: UInt64)] = [
      (.cut, .unavailable(reason: "the connection was cut"), 0, 0),
      (.lostBefore, .unknownOutcome, 0, 0),
      (.lostAfter, .unknownOutcome, 1, 1),
      (.lostUnderway, .unknownOutcome, 1, 2),
    ]
    for (fault, error, now, later) in expected {
      let faults = AppendFaults([fault])
      let node = memory.node("a", faults: faults.next)
      let position = try await node.open(shard).position
      await #expect(throws: error) {
        try await node.append(draft(1), to: shard, after: position, epoch: .none)
      }
      #expect(try memory.tables.head(of: shard).number == now)
      memory.performPending()
      #expect(try memory.tables.head(of: shard).number == later)
    }
  }

  @Test("an append that is tried again is appended once, whatever became of the first attempts")
  func unknownOutcomesAreResolved() async throws {
    let faults: [LogFault] = [.lostBefore, .lostAfter, .lostUnderway, .cut]
    for first in faults.dropLast() {
      for second in faults {
        let memory = memory()
        let node = memory.node("a", faults: AppendFaults([first, second]).next)
        _ = try await node.open(shard)
        let outcome = try await node.append(
          draft(5), to: shard, after: .start, epoch: .none, attempts: 3)
        #expect(outcome == .appended(LogPosition(1)), "\(first), \(second)")
        let stored = try memory.tables.batches(in: shard, after: .start, limit: 10)
        #expect(stored.map(\.id) == [5], "\(first), \(second)")
      }
    }
  }

  @Test("an append under way that another leader fences counts as what it became")
  func fencedAppends() async throws {
    for (fault, isAppended) in [(LogFault.lostBefore, false), (.lostUnderway, true)] {
      let memory = memory()
      let node = memory.node("a", faults: AppendFaults([fault]).next)
      let other = memory.node("b")
      _ = try await node.open(shard)
      await #expect(throws: CommitLogError.unknownOutcome) {
        try await node.append(draft(5), to: shard, after: .start, epoch: .none, attempts: 1)
      }
      let request = LeaseRequest(node: "b", address: "b:1", condition: .free)
      let mark = LeaseMark(epoch: LogEpoch(1), beat: isAppended ? 2 : 1)
      #expect(try await other.renewLease(shard, request: request) == .held(mark))
      let outcome = try await node.append(draft(5), to: shard, after: .start, epoch: .none)
      #expect(outcome == .fenced(LogEpoch(1)))
      #expect(try memory.tables.head(of: shard).number == (isAppended ? 1 : 0))
    }
  }

  @Test("attempts that do not suffice leave the outcome unknown")
  func attemptsEnd() async throws {
    let memory = memory()
    let node = memory.node("a", faults: AppendFaults([.lostAfter, .cut, .cut]).next)
    _ = try await node.open(shard)
    await #expect(throws: CommitLogError.unknownOutcome) {
      try await node.append(draft(5), to: shard, after: .start, epoch: .none, attempts: 3)
    }
  }

  @Test("a delayed reader sees a prefix")
  func delayedReads() async throws {
    let memory = memory()
    let writer = memory.node("a")
    let reader = memory.node("b") { _ in .delayed(batches: 2) }
    _ = try await writer.open(shard)
    for number in 1...5 {
      _ = try await writer.append(
        draft(UInt128(number)), to: shard, after: LogPosition(UInt64(number - 1)), epoch: .none)
    }
    let seen = try await reader.batches(in: shard, after: LogPosition(1), limit: 10)
    #expect(seen.map(\.id) == [2, 3])
    #expect(try await reader.batches(in: shard, after: LogPosition(4), limit: 10).isEmpty)
  }

  @Test("a wait ends with a batch, another epoch, its time, and its task")
  func waits() async throws {
    let memory = LogMemory(clock: ManualClock(), uptime: { 0 })
    let node = memory.node("a")
    _ = try await node.open(shard)
    func wait(after position: UInt64, _ timeout: Duration) -> Task<LogEpoch, any Error> {
      Task {
        try await node.waitForChange(
          in: shard, after: LogPosition(position), under: .none, timeout: timeout)
      }
    }
    let batch = wait(after: 0, .seconds(9))
    _ = try await node.append(draft(1), to: shard, after: .start, epoch: .none)
    #expect(try await batch.value == .none)
    let task = wait(after: 1, .seconds(9))
    task.cancel()
    #expect(try await task.value == .none)
    #expect(try await wait(after: 1, .zero).value == .none)
    let lease = wait(after: 1, .seconds(9))
    _ = try await node.renewLease(
      shard, request: LeaseRequest(node: "a", address: "a:1", condition: .free))
    #expect(try await lease.value == LogEpoch(1))
  }
}

@Suite("expiry of leases")
struct LeaseWatchTests {
  private let mark = LeaseMark(epoch: LogEpoch(3), beat: 9)

  private func lease(_ beat: UInt64) -> Lease {
    Lease(node: "a", address: "a:1", mark: LeaseMark(epoch: LogEpoch(3), beat: beat))
  }

  @Test("a lease expires when its mark has not changed for the lifetime")
  func expires() {
    var watch = LeaseWatch(lifetime: .seconds(3))
    let gap = Duration.seconds(2)
    #expect(watch.observe(lease(8), at: .seconds(100), longestGap: gap) == .free)
    #expect(watch.observe(lease(9), at: .seconds(102), longestGap: gap) == .free)
    #expect(watch.expiry == .seconds(105))
    #expect(watch.observe(lease(9), at: .seconds(104), longestGap: gap) == .free)
    #expect(watch.observe(lease(9), at: .seconds(105), longestGap: gap) == .unchanged(mark))
    #expect(watch.observe(nil, at: .seconds(106), longestGap: gap) == .free)
    #expect(watch.expiry == nil)
  }

  @Test("an observer that was paused gives the holder a whole lifetime again")
  func pausedObservers() {
    var watch = LeaseWatch(lifetime: .seconds(3))
    let gap = Duration.seconds(2)
    #expect(watch.observe(lease(9), at: .seconds(100), longestGap: gap) == .free)
    #expect(watch.observe(lease(9), at: .seconds(160), longestGap: gap) == .free)
    #expect(watch.observe(lease(9), at: .seconds(162), longestGap: gap) == .free)
    #expect(watch.observe(lease(9), at: .seconds(163), longestGap: gap) == .unchanged(mark))
  }
}
