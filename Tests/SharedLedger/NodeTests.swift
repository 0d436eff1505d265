import Synchronization
import TernCommitLog
import TernLedger
import TernLogMemory
import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernSharedLedger

@Suite("Nodes of a shared ledger")
struct NodeTests {
  let cluster = TestCluster()

  @Test("a node that stands by holds what the leader commits, and takes over when it is released")
  func handOver() async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    try await first.commit([put("a", 1, claim(1))])
    await second.follow()
    #expect(try await second.value(of: "a") == [1])
    #expect(!second.ledger.standing.isLeading)
    #expect(second.ledger.standing.leader == "node1:9000")
    await #expect(throws: LedgerError.self) { try await second.commit([put("a", 2)]) }
    await first.ledger.close()
    let before = cluster.clock.milliseconds
    try await second.lead()
    #expect(cluster.clock.milliseconds - before <= 1_000)
    #expect(try await second.commit([put("a", 1, claim(1))]) == [.duplicate(1, outcome: [1, 1])])
    #expect(try await second.commit([put("a", 2)]) == [.committed(2)])
  }

  @Test("a leader that died is followed once its lease has not changed for its lifetime")
  func takeOver() async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    try await first.commit([put("a", 1)])
    let before = cluster.clock.milliseconds
    try await second.lead()
    #expect((3_000...4_500).contains(cluster.clock.milliseconds - before))
    #expect(try await second.value(of: "a") == [1])
  }

  @Test("a lease that was renewed while a node read it lasts for its lifetime from then on")
  func slowLook() async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    await second.follow()
    let clock = cluster.clock
    let renewed = Mutex<Int64?>(nil)
    second.log.onOpen {
      // The answer takes long, and has a renewal that is younger than the question.
      guard renewed.withLock({ $0 }) == nil else { return }
      renewed.withLock { $0 = .max }
      clock.advance(by: .milliseconds(1_800))
      let now = clock.milliseconds
      _ = await first.ledger.step()
      renewed.withLock { $0 = now }
    }
    // The leader dies behind that renewal.
    while !second.ledger.isElected {
      clock.advance(by: .milliseconds(100))
      _ = await second.ledger.step()
    }
    let origin = try #require(renewed.withLock { $0 })
    #expect(clock.milliseconds - origin >= 3_000)
    #expect(clock.milliseconds - origin <= 6_000)
  }

  @Test("a lease that was granted a lifetime ago begins no term")
  func lateElection() async throws {
    let node = cluster.node()
    let clock = cluster.clock
    let answers = Mutex<[LogOperation.Kind]>([])
    node.faults.observe { operation in
      let isLate = answers.withLock { answers in
        answers.append(operation.kind)
        return answers.suffix(2) == [.lease, .read] && answers.count { $0 == .lease } == 1
      }
      // What is read behind the first grant comes late.
      if isLate { clock.advance(by: .seconds(10)) }
    }
    while !answers.withLock({ $0.contains(.lease) }) {
      _ = await node.ledger.step()
      clock.advance(by: .milliseconds(250))
    }
    #expect(!node.ledger.isElected)
    try await node.lead()
    #expect(try await node.commit([put("a", 1)]) == [.committed(1)])
  }

  @Test("a leader that renews its lease keeps it")
  func renewal() async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    for _ in 0..<60 {
      cluster.clock.advance(by: .milliseconds(250))
      _ = await first.ledger.step()
      _ = await second.ledger.step()
      #expect(!second.ledger.isElected)
    }
    #expect(try await first.commit([put("a", 1)]) == [.committed(1)])
  }

  @Test("a leader that was paused past its lease appends nothing, and answers no read")
  func fenced() async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    try await first.commit([put("a", 1)])
    first.log.onAppend(before: {
      // In the middle of its commit the first node stands still for longer than its lease.
      try? await second.lead()
      _ = try? await second.commit([put("a", 5)])
    })
    await #expect(throws: LedgerError.self) { try await first.commit([put("a", 2)]) }
    first.log.onAppend()
    #expect(!first.ledger.standing.isLeading)
    #expect(try cluster.batches().count == 2)
    await first.follow()
    #expect(try await first.value(of: "a") == [5])
    await #expect(throws: LedgerError.self) {
      try await first.ledger.decide { _ throws(StorageError) in Decision([], keeping: ()) }
    }
  }

  @Test("a leader whose lease may have been taken over does not even read")
  func staleRead() async throws {
    let first = cluster.node()
    try await first.lead()
    func look() async throws {
      _ = try await first.ledger.decide { _ throws(StorageError) in Decision([], keeping: ()) }
    }
    try await look()
    cluster.clock.advance(by: .seconds(3))
    await #expect(throws: LedgerError.self) { try await look() }
    #expect(await first.ledger.endOfTerm() == SharedLedger.staleLease)
    try await first.lead()
    try await look()
  }

  @Test(
    "an append whose outcome is unknown is answered by what became of it",
    arguments: [LogFault.lostBefore, .lostAfter, .lostUnderway])
  func unknownOutcome(fault: LogFault) async throws {
    let first = cluster.node()
    try await first.lead()
    first.faults.add(fault, to: .append)
    #expect(try await first.commit([put("a", 1, claim(1))]) == [.committed(1)])
    #expect(try await first.commit([put("a", 2, claim(2))]) == [.committed(2)])
    #expect(try cluster.batches().count == 2)
  }

  @Test(
    "an append in doubt behind which the lease is lost ends the term, and is not made twice",
    arguments: [LogFault.lostBefore, .lostAfter, .lostUnderway])
  func doubtAndTakeOver(fault: LogFault) async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    await second.follow()
    first.faults.add(fault, to: .append)
    cluster.clock.whileSleeping = { [cluster, first] in
      cluster.clock.whileSleeping = nil
      first.faults.isCut = true
      try? await second.lead()
      first.faults.isCut = false
    }
    let write = put("a", 1, claim(1))
    let answer: [CommitResult]?
    do throws(LedgerError) { answer = try await first.commit([write]) } catch { answer = nil }
    // The retry tells what became of it, at whichever node.
    let again = try await second.commit([write])
    let isIn = fault == .lostAfter || fault == .lostUnderway
    #expect(again == (isIn ? [.duplicate(1, outcome: [1, 1])] : [.committed(1)]))
    if let answer { #expect(answer == [.committed(1)] && isIn) }
    // Finding its batch in the log renews no lease: the other node leads.
    await #expect(throws: LedgerError.self) {
      try await first.ledger.decide { _ throws(StorageError) in Decision([], keeping: ()) }
    }
    await first.follow()
    #expect(try cluster.batches().count == 1)
    #expect(try await first.version == 1)
    #expect(try await second.version == 1)
  }

  @Test("a node that cannot reach the log ends its term, and leads again when it can")
  func cut() async throws {
    let first = cluster.node()
    try await first.lead()
    first.faults.isCut = true
    await #expect(throws: LedgerError.self) { try await first.commit([put("a", 1)]) }
    #expect(!first.ledger.standing.isLeading)
    for _ in 0..<8 { _ = await first.ledger.step() }
    #expect(first.ledger.standing.reason.contains("cut"))
    first.faults.isCut = false
    try await first.lead()
    #expect(try await first.commit([put("a", 1)]) == [.committed(1)])
  }

  @Test("a payload of a later format keeps a node out, and says so")
  func laterFormat() async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    await second.follow()
    let lease = try await second.log.renewLease(
      ShardID(0), request: LeaseRequest(node: "node1", address: "", condition: .held))
    guard case .held(let mark) = lease else {
      Issue.record("node1 leads")
      return
    }
    _ = try await second.log.append(
      LogBatch.Draft(id: 1, payload: [9, 0, 0]), to: ShardID(0), after: .start, epoch: mark.epoch)
    for _ in 0..<40 {
      cluster.clock.advance(by: .milliseconds(250))
      _ = await second.ledger.step()
    }
    #expect(!second.ledger.isElected)
    #expect(second.ledger.standing.reason.contains("upgrade"))
  }

  @Test("commits that come while one is under way share the next append")
  func groups() async throws {
    let first = cluster.node()
    try await first.lead()
    let (begun, go) = (Promise(), Promise())
    first.log.onAppend(before: {
      begun.fulfil()
      await go.wait()
    })
    async let one = first.commit([put("a", 0)])
    await begun.wait()
    let rest = Task {
      try await withThrowingTaskGroup(of: [CommitResult].self) { group in
        for value in UInt8(1)...20 {
          group.addTask { try await first.commit([put("k\(value)", value)]) }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
    }
    // All of them wait behind the one that is under way.
    while first.ledger.waitingCommits < 20 { await Task.yield() }
    go.fulfil()
    _ = try await one
    let results = try await rest.value
    #expect(Set(results) == Set((2...21).map { .committed($0) }))
    #expect(try cluster.batches().count == 2)
  }
}
