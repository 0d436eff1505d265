import Synchronization
import TernCommitLog
import TernLedger
import TernLogMemory
import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernSharedLedger

@Suite("Copies and checkpoints of a shared ledger's nodes")
struct NodeCopyTests {
  let cluster = TestCluster()

  @Test("batches that are applied again change nothing")
  func replay() async throws {
    let first = cluster.node()
    try await first.lead()
    for value in UInt8(1)...3 { try await first.commit([put("a", value, claim(UInt64(value)))]) }
    let copy = try #require(first.ledger.copy)
    var assembler = BatchAssembler()
    var placed: [EmbeddedLedger.PlacedBatch] = []
    for batch in try cluster.batches() {
      let whole = try #require(try assembler.add(batch))
      placed.append((ReplicaMark(position: batch.position.number, id: batch.id), whole))
    }
    try copy.apply(placed)
    try copy.apply(Array(placed.prefix(1)))
    #expect(try await first.version == 3)
    #expect(try await first.value(of: "a") == [3])
    #expect(try await first.commit([put("a", 4, claim(4))]) == [.committed(4)])
    #expect(try copy.log(after: 0, limit: 9).map(\.version) == [1, 2, 3, 4])
  }

  @Test("a batch that does not follow on the copy is refused, and the copy begins anew")
  func gap() async throws {
    let first = cluster.node()
    try await first.lead()
    try await first.commit([put("a", 1)])
    let copy = try #require(first.ledger.copy)
    let stray = ReplicatedBatch(after: 7)
    let mark = ReplicaMark(position: 2, id: 1)
    #expect(throws: LedgerError.storage(.corruptRecord(key: LedgerKey.replica))) {
      try copy.apply([(mark, stray)])
    }
    #expect(try await first.version == 1)
  }

  @Test("a node goes on from the copy that an earlier run left")
  func restart() async throws {
    let (first, store) = (cluster.node(), MemoryStore())
    let second = cluster.node(over: store)
    try await first.lead()
    try await first.commit([put("a", 1)])
    await second.follow()
    await second.ledger.close()
    try await first.commit([put("a", 2), put("b", 2)])
    let third = cluster.node(over: store)
    await third.follow()
    #expect(try await third.value(of: "a") == [2])
    #expect(try await third.version == 3)
    // Its log goes back to before the restart: the copy was kept.
    #expect(try await third.ledger.log(after: 0, limit: 9).count == 3)
  }

  @Test("a copy of another history is not gone on with")
  func otherHistory() async throws {
    let store = MemoryStore()
    let other = TestCluster()
    let stranger = other.node(over: store)
    try await stranger.lead()
    try await stranger.commit([put("x", 9)])
    await stranger.ledger.close()
    let first = cluster.node()
    try await first.lead()
    try await first.commit([put("a", 1)])
    try await first.commit([put("a", 2)])
    let second = cluster.node(over: store)
    await second.follow()
    #expect(try await second.value(of: "a") == [2])
    #expect(try await second.value(of: "x") == nil)
  }

  @Test("a copy that is ahead of a restored log is not gone on with")
  func regressed() async throws {
    let store = MemoryStore()
    let other = TestCluster()
    let stranger = other.node(over: store)
    try await stranger.lead()
    for value in UInt8(1)...5 { try await stranger.commit([put("x", value)]) }
    await stranger.ledger.close()
    let first = cluster.node()
    try await first.lead()
    try await first.commit([put("a", 1)])
    let second = cluster.node(over: store)
    await second.follow()
    #expect(try await second.value(of: "x") == nil)
    #expect(try await second.version == 1)
  }

  @Test("a store with an embedded server's data is left alone")
  func foreignStore() async throws {
    let store = MemoryStore()
    _ = try EmbeddedLedger(store: store) { 0 }.commit([put("a", 1)])
    let node = cluster.node(over: store)
    await node.follow()
    await #expect(throws: LedgerError.foreignStore) { try await node.ledger.beginTerm() }
    let value = try EmbeddedLedger(store: store, uptime: { 0 }).read {
      snapshot throws(StorageError) in
      try snapshot.get(Array("a".utf8))
    }
    #expect(value == [1])
  }

  @Test("a batch is acknowledged only when the copy has it, and is not lost when it has not")
  func copyFails() async throws {
    let disk = FaultyDisk()
    let (first, second) = (cluster.node(over: disk.open()), cluster.node())
    try await first.lead()
    try await first.commit([put("a", 1)])
    disk.fill()
    let write = put("a", 2, claim(1))
    await #expect(throws: LedgerError.self) { try await first.commit([write]) }
    #expect(!first.ledger.standing.isLeading)
    _ = await first.ledger.step()
    try await second.lead()
    #expect(try await second.commit([write]) == [.duplicate(2, outcome: [2, 2])])
    disk.free()
    await first.follow()
    #expect(try await first.value(of: "a") == [2])
  }

  @Test("a store that failed ends the node for good")
  func storeFails() async throws {
    let disk = FaultyDisk()
    let first = cluster.node(over: disk.open())
    try await first.lead()
    disk.inject(.failedSync(isDurable: false))
    await #expect(throws: LedgerError.self) { try await first.commit([put("a", 1)]) }
    await first.follow()
    await #expect(throws: LedgerError.storage(.failed)) { try await first.ledger.beginTerm() }
    let second = cluster.node(over: disk.open())
    try await second.lead()
    #expect(try await second.value(of: "a") == [1])
  }

  @Test("a batch too large for one part is applied whole or not at all")
  func parts() async throws {
    let first = cluster.node { $0.partBytes = 40 }
    let second = cluster.node { $0.partBytes = 40 }
    try await first.lead()
    let commits = (1...9).map { put("key\($0)", UInt8($0)) }
    try await first.commit(commits)
    #expect(try cluster.batches().count > 2)
    await second.follow()
    #expect(try await second.version == 9)
    // A leader that ends in the middle leaves parts without a last one.
    let count = Mutex(0)
    first.log.onAppend(after: { [first] in
      count.withLock { $0 += 1 }
      if count.withLock({ $0 }) == 2 { first.faults.isCut = true }
    })
    await #expect(throws: LedgerError.self) { try await first.commit(commits) }
    await second.follow()
    #expect(try await second.version == 9)
    try await second.lead()
    #expect(try await second.version == 9)
    #expect(try await second.commit(commits).last == .committed(18))
    first.log.onAppend()
    first.faults.isCut = false
    await first.follow()
    #expect(try await first.version == 18)
    let third = cluster.node()
    await third.follow()
    #expect(try await third.version == 18)
  }

  /// A leader whose checkpoint is close and whose log is short.
  private func shortLog() -> TestNode {
    cluster.node {
      $0.checkpointBatches = 2
      $0.retention = LogRetention(batches: 0, age: .zero)
    }
  }

  @Test("a fresh node begins with the checkpoint when the log was cut")
  func checkpoint() async throws {
    let first = shortLog()
    try await first.lead()
    for value in UInt8(1)...5 { try await first.commit([put("a", value, claim(UInt64(value)))]) }
    try await first.commit([put("b", 1), put("c", 1)])
    let removal = Commit(mutations: [.remove(KeyRange(only: Array("c".utf8)))], record: [])
    try await first.commit([removal])
    await first.follow()
    #expect(throws: CommitLogError.self) { try cluster.batches() }
    let second = cluster.node()
    await second.follow()
    #expect(try await second.version == 8)
    #expect(try await second.value(of: "a") == [5])
    #expect(try await second.value(of: "c") == nil)
    try await first.commit([put("a", 6, claim(6))])
    await first.ledger.close()
    try await second.lead()
    #expect(try await second.commit([put("a", 6, claim(6))]) == [.duplicate(9, outcome: [6, 6])])
    #expect(try await second.commit([put("a", 5, claim(5))]) == [.duplicate(5, outcome: [5, 5])])
  }

  @Test("a node that follows too slowly for a log that is cut begins again with the checkpoint")
  func truncation() async throws {
    let (first, second) = (shortLog(), cluster.node())
    try await first.lead()
    try await first.commit([put("a", 1), put("old", 1)])
    await second.follow()
    try await first.commit([
      Commit(mutations: [.remove(KeyRange(only: Array("old".utf8)))], record: [])
    ])
    for value in UInt8(2)...9 { try await first.commit([put("a", value)]) }
    await first.follow()
    #expect(throws: CommitLogError.self) { try cluster.batches(after: 1) }
    await second.follow()
    #expect(try await second.value(of: "a") == [9])
    #expect(try await second.value(of: "old") == nil)
    #expect(try await second.version == 11)
  }

  @Test("a node whose copy was cut short begins again")
  func partialCopy() async throws {
    let (first, store) = (shortLog(), MemoryStore())
    try await first.lead()
    for value in UInt8(1)...4 { try await first.commit([put("a", value)]) }
    await first.follow()
    try EmbeddedLedger.beginCopy(in: store)
    try EmbeddedLedger.addRows([Row(key: Array("zz".utf8), value: [1])], to: store)
    let second = cluster.node(over: store)
    await second.follow()
    #expect(try await second.value(of: "a") == [4])
    #expect(try await second.value(of: "zz") == nil)
  }

  @Test("a checkpoint that fails again and again is told, until it does not")
  func failingCheckpoint() async throws {
    let first = shortLog()
    try await first.lead()
    try await first.commit([put("a", 1)])
    try await first.commit([put("a", 2)])
    for _ in 0..<4 { first.faults.add(.cut, to: .checkpoint) }
    for count in 1...4 {
      _ = await first.ledger.step()
      let trouble = first.ledger.standing.trouble ?? ""
      #expect(trouble.contains("cut") == (count >= SharedLedgerLimits.toleratedCheckpoints))
      #expect(first.ledger.figures.failedCheckpoints == count)
    }
    #expect(first.ledger.standing.isLeading)
    _ = await first.ledger.step()
    #expect(first.ledger.standing.trouble == nil)
    #expect(first.ledger.figures.failedCheckpoints == 4)
  }

  @Test("a leader whose log has lost batches folds nothing, and gives its copy up")
  func lostTail() async throws {
    let first = shortLog()
    try await first.lead()
    try await first.commit([put("a", 1, claim(1))])
    try await first.commit([put("a", 2, claim(2))])
    try await first.commit([put("a", 3, claim(3))])
    cluster.memory.dropNewest(1, of: ShardID(0))
    _ = await NodeDuties(ledger: first.ledger).foldLog()
    #expect(cluster.memory.tables.openShards == [ShardID(0)])
    #expect(try await first.log.open(ShardID(0)).mark == .start)
    #expect(!first.ledger.standing.isLeading)
    try await first.lead()
    #expect(try await first.value(of: "a") == [2])
    // The write that was lost is made again.
    #expect(try await first.commit([put("a", 3, claim(3))]) == [.committed(3)])
  }

  @Test("a node that ends while it builds its copy reads no further page", .timeLimit(.minutes(5)))
  func endsWhileBuilding() async throws {
    let first = shortLog()
    try await first.lead()
    for value in UInt8(1)...9 { try await first.commit([put("key\(value)", value)]) }
    await first.follow()
    let log = HookedLog(cluster.memory.node("second"))
    let begun = Promise()
    let pages = Mutex(0)
    log.onPage {
      pages.withLock { $0 += 1 }
      begun.fulfil()
      while !Task.isCancelled { await Task.yield() }
    }
    var options = SharedLedgerOptions(node: "second", address: "")
    options.rowsPerPage = 1
    let clock = ContinuousClock()
    let start = clock.now
    let second = SharedLedger(
      log: log, store: MemoryStore(), options: options,
      environment: NodeEnvironment(
        clock: clock, uptime: { start.duration(to: clock.now).wholeMilliseconds },
        randomBits: { .random(in: .min ... .max) }))
    second.start()
    await begun.wait()
    await second.close()
    #expect(pages.withLock { $0 } == 1)
  }

  @Test("a checkpoint is not folded from a copy that is built again meanwhile")
  func replacedCopy() async throws {
    let first = cluster.node()
    try await first.lead()
    try await first.commit([put("a", 1, claim(1))])
    let copy = try #require(first.ledger.copy)
    let writer = CheckpointWriter(
      log: first.log, shard: ShardID(0), copy: copy, epoch: LogEpoch(1),
      isCopyCurrent: { false }, plantedFault: nil)
    await #expect(throws: NodeError.self) {
      _ = try await writer.advance(from: .start, upTo: LogPosition(1))
    }
    #expect(try await first.log.open(ShardID(0)).mark == .start)
  }

  @Test("a leader that was deposed folds nothing")
  func deposedFold() async throws {
    let first = cluster.node()
    try await first.lead()
    try await first.commit([put("a", 1, claim(1))])
    let copy = try #require(first.ledger.copy)
    let head = LogPosition(try await first.log.open(ShardID(0)).position.number)
    for (epoch, mark) in [(LogEpoch.none, LogPosition.start), (LogEpoch(1), head)] {
      let writer = CheckpointWriter(
        log: first.log, shard: ShardID(0), copy: copy, epoch: epoch, plantedFault: nil)
      #expect(try await writer.advance(from: .start, upTo: head) == mark)
      #expect(try await first.log.open(ShardID(0)).mark == mark)
    }
  }

  @Test("a checkpoint that takes longer than a lease lasts ends no term", .timeLimit(.minutes(5)))
  func slowCheckpoint() async throws {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let (held, release) = AsyncStream.makeStream(of: Void.self)
    let (renewals, renewed) = AsyncStream.makeStream(of: Void.self)
    let log = HookedLog(
      cluster.memory.node("slow") { operation in
        if operation.kind == .lease { renewed.yield() }
        return nil
      })
    log.onCheckpoint {
      begin.yield()
      for await _ in held {}
    }
    var options = SharedLedgerOptions(node: "slow", address: "")
    options.leaseLifetime = .seconds(6)
    options.renewal = .milliseconds(50)
    options.checkpointBatches = 1
    // Nothing but renewals, so that they can be counted.
    options.announcement = .seconds(3_600)
    let clock = ContinuousClock()
    let start = clock.now
    let ledger = SharedLedger(
      log: log, store: MemoryStore(), options: options,
      environment: NodeEnvironment(
        clock: clock, uptime: { start.duration(to: clock.now).wholeMilliseconds },
        randomBits: { .random(in: .min ... .max) }))
    ledger.start()
    try await ledger.beginTerm()
    #expect(try await ledger.commit([put("a", 1)]) == [.committed(1)])
    for await _ in begun { break }
    let since = clock.now
    for await _ in renewals where since.duration(to: clock.now) > options.leaseLifetime { break }
    #expect(ledger.standing.isLeading)
    #expect(try await ledger.commit([put("a", 2)]) == [.committed(2)])
    release.finish()
    await ledger.close()
  }
}
