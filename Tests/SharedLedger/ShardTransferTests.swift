import Synchronization
import TernCommitLog
import TernLedger
import TernLogMemory
import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernSharedLedger

@Suite("Moving a store into a shard and back")
struct ShardTransferTests {
  let cluster = TestCluster()

  /// A store of an embedded server with commits that writers may send again.
  private func embeddedStore(rows: Int = 40) throws -> MemoryStore {
    let store = MemoryStore()
    let ledger = try EmbeddedLedger(store: store) { 0 }
    for value in 1...UInt8(3) { _ = try ledger.commit([put("a", value, claim(UInt64(value)))]) }
    let commit = Commit(
      mutations: (0..<rows).map { .put(key: Array("row/\($0)".utf8), value: [1]) }, record: [9])
    _ = try ledger.commit([commit])
    return store
  }

  private func transfer(
    over place: TestCluster? = nil, faults: FaultSwitch = FaultSwitch(),
    defect: HookedLog.Defect? = nil, adjust: (HookedLog) -> Void = { _ in }
  ) -> ShardTransfer {
    let place = place ?? cluster
    let (clock, number) = (place.clock, place.nextNumber())
    let bits = Mutex(SeededGenerator(seed: UInt64(number)))
    let log = HookedLog(place.memory.node("transfer\(number)") { faults.next($0) }, defect: defect)
    adjust(log)
    return ShardTransfer(
      log: log,
      environment: NodeEnvironment(
        clock: clock, uptime: { clock.milliseconds }, randomBits: { bits.withLock { $0.next() } }))
  }

  private func rows(of store: any OrderedStore) throws -> [Row] {
    let ledger = try EmbeddedLedger(store: store) { 0 }
    return try ledger.read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(from: [LedgerLimits.firstOwnByte]))
    }
  }

  @Test("nodes go on with the versions, rows and outcomes of the embedded server")
  func imported() async throws {
    let store = try embeddedStore()
    let summary = try await transfer().importStore(store)
    #expect(summary.version == 4 && summary.rows == 42 && summary.position == LogPosition(2))
    let node = cluster.node()
    try await node.lead()
    #expect(try await node.version == 4)
    #expect(try await node.commit([put("a", 3, claim(3))]) == [.duplicate(3, outcome: [3, 3])])
    #expect(try await node.commit([put("b", 7, claim(4))]) == [.committed(5)])
    let found = try await node.ledger.read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(from: [LedgerLimits.firstOwnByte]))
    }
    #expect(found.filter { $0.key != Array("b".utf8) } == (try rows(of: store)))
  }

  @Test("a shard goes back into a store with what its nodes have committed")
  func exported() async throws {
    try await transfer().importStore(try embeddedStore())
    let node = cluster.node()
    try await node.lead()
    try await node.commit([put("a", 9, claim(4))])
    try await node.commit([put("b", 7, claim(1, of: 43))])
    let expected = try await node.ledger.read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(from: [LedgerLimits.firstOwnByte]))
    }
    await node.ledger.close()
    let target = MemoryStore()
    let summary = try await transfer().exportStore(to: target)
    #expect(summary.version == 6 && summary.position == LogPosition(4))
    #expect(try rows(of: target) == expected)
    #expect(try EmbeddedLedger.replicaState(of: target) == .foreign)
    let ledger = try EmbeddedLedger(store: target) { 0 }
    #expect(try ledger.commit([put("a", 9, claim(4))]) == [.duplicate(5, outcome: [9, 9])])
    #expect(try ledger.commit([put("a", 1, claim(5))]) == [.committed(7)])
    // And into another shard again.
    #expect(try await transfer(over: TestCluster()).importStore(target).version == 7)
  }

  @Test("a shard with data, a store without, and a copy are refused")
  func refused() async throws {
    let store = try embeddedStore()
    await #expect(throws: ShardTransferError.ledger(.foreignStore)) {
      try await transfer().importStore(MemoryStore())
    }
    let empty = MemoryStore()
    _ = try EmbeddedLedger(store: empty) { 0 }.commit([])
    await #expect(throws: ShardTransferError.emptyStore) {
      try await transfer().importStore(empty)
    }
    await #expect(throws: ShardTransferError.emptyShard) {
      try await transfer().exportStore(to: MemoryStore())
    }
    try await transfer().importStore(store)
    await #expect(throws: ShardTransferError.shardNotEmpty(LogPosition(2))) {
      try await transfer().importStore(store)
    }
    await #expect(throws: ShardTransferError.storeNotEmpty) {
      try await transfer().exportStore(to: store)
    }
    let (node, copy) = (cluster.node(), MemoryStore())
    let second = cluster.node(over: copy)
    try await node.lead()
    await second.follow()
    await #expect(throws: ShardTransferError.ledger(.foreignStore)) {
      try await transfer().importStore(copy)
    }
  }

  @Test("a shard whose leader renews its lease is not moved; one whose leader is gone is")
  func inUse() async throws {
    let node = cluster.node()
    try await node.lead()
    try await node.commit([put("a", 1)])
    cluster.clock.whileSleeping = { _ = await node.ledger.step() }
    await #expect(throws: ShardTransferError.inUse(by: "node1:9000")) {
      try await transfer().exportStore(to: MemoryStore())
    }
    cluster.clock.whileSleeping = nil
    #expect(try await transfer().exportStore(to: MemoryStore()).version == 1)
    // The node that was thought to be gone appends nothing.
    await #expect(throws: LedgerError.self) { try await node.commit([put("a", 2)]) }
  }

  @Test("no node begins on a shard whose import did not end, and the next import does it all")
  func unfinished() async throws {
    let early = cluster.node()
    await early.follow()
    let store = try embeddedStore()
    let faults = FaultSwitch()
    await #expect(throws: ShardTransferError.self) {
      try await transfer(faults: faults).importStore(store) { progress in
        if case .compared = progress { faults.isCut = true }
      }
    }
    let node = cluster.node()
    await node.follow()
    #expect(!node.ledger.isElected)
    #expect(node.ledger.standing.reason.contains("did not end"))
    await #expect(throws: ShardTransferError.unfinishedImport) {
      try await transfer().exportStore(to: MemoryStore())
    }
    #expect(try await transfer().importStore(store).rows == 42)
    try await node.lead()
    #expect(try await node.version == 4)
    // The copy of the empty shard is made again.
    await early.follow()
    #expect(try await early.version == 4)
    #expect(try await early.value(of: "a") == [3])
  }

  @Test(
    "a connection that breaks anywhere changes nothing about what is moved",
    arguments: [LogFault.cut, .lostBefore, .lostAfter, .lostUnderway])
  func broken(fault: LogFault) async throws {
    for kind in LogOperation.Kind.allCases {
      let place = TestCluster()
      let faults = FaultSwitch()
      let shard = transfer(over: place, faults: faults)
      let store = try embeddedStore()
      var isArmed = false
      let summary = try await shard.importStore(store) { _ in
        if !isArmed { faults.add(fault, to: kind) }
        isArmed = true
      }
      #expect(summary.rows == 42)
      let node = place.node()
      try await node.lead()
      #expect(try await node.version == 4)
      #expect(try await node.value(of: "row/7") == [1])
    }
  }

  @Test("an import that was paused at any step changes nothing behind its successor")
  func overtaken() async throws {
    let store = try embeddedStore()
    for step in 1... {
      let place = TestCluster()
      let steps = Mutex(0)
      let successor = transfer(over: place)
      let paused = transfer(over: place) { log in
        log.onCheckpoint {
          let isNow = steps.withLock { steps in
            steps += 1
            return steps == step
          }
          guard isNow else { return }
          place.clock.advance(by: .seconds(60))
          let rows = try? await successor.importStore(store).rows
          #expect(rows == 42, "step \(step)")
        }
      }
      do throws(ShardTransferError) { try await paused.importStore(store) } catch {
        let node = place.node()
        try await node.lead()
        #expect(try await node.version == 4, "step \(step)")
        #expect(try await node.value(of: "row/39") == [1], "step \(step)")
        continue
      }
      // The import has no more steps than these: to clear, to put, to complete.
      #expect(step == 4)
      return
    }
  }

  @Test("a shard is empty before an import has begun, and no node's from its first batch on")
  func endsEarly() async throws {
    let store = try embeddedStore()
    for isAppended in [false, true] {
      let (place, faults) = (TestCluster(), FaultSwitch())
      let node = place.node()
      await node.follow()
      let broken = transfer(over: place, faults: faults) { log in
        if isAppended {
          log.onAppend(after: { faults.isCut = true })
        } else {
          log.onAppend(before: { faults.isCut = true })
        }
      }
      await #expect(throws: ShardTransferError.self) { try await broken.importStore(store) }
      place.clock.advance(by: .seconds(60))
      if isAppended {
        let fresh = place.node()
        for node in [node, fresh] {
          await node.follow()
          #expect(!node.ledger.isElected)
          #expect(node.ledger.standing.reason.contains("did not end"))
        }
        #expect(try await transfer(over: place).importStore(store).rows == 42)
        try await fresh.lead()
        #expect(try await fresh.version == 4)
      } else {
        // What is committed to it is not overwritten.
        try await node.lead()
        try await node.commit([put("a", 1)])
        await node.ledger.close()
        await #expect(throws: ShardTransferError.shardNotEmpty(LogPosition(1))) {
          try await transfer(over: place).importStore(store)
        }
      }
    }
  }

  @Test("an export during which a node leads does not complete")
  func exportOvertaken() async throws {
    try await transfer().importStore(try embeddedStore())
    let node = cluster.node()
    let isFirst = Mutex(true)
    let exporter = transfer { log in
      log.onPage {
        // The first page is that of the checkpoint's version.
        let isNow = isFirst.withLock { first in
          defer { first = false }
          return first
        }
        guard isNow else { return }
        cluster.clock.advance(by: .seconds(60))
        do {
          try await node.lead()
          try await node.commit([put("late", 1)])
          await node.ledger.close()
        } catch {
          Issue.record(error)
        }
      }
    }
    let target = MemoryStore()
    await #expect(throws: ShardTransferError.self) { try await exporter.exportStore(to: target) }
    #expect(try EmbeddedLedger.replicaState(of: target) != .foreign)
    #expect(try await transfer().exportStore(to: MemoryStore()).version == 5)
  }

  @Test("a log that leaves out rows is found out, and the import does not end")
  func skippedRows() async throws {
    let store = try embeddedStore(rows: 20_000)
    await #expect(throws: ShardTransferError.self) {
      try await transfer(defect: .skipsRows).importStore(store)
    }
    let node = cluster.node()
    await node.follow()
    #expect(!node.ledger.isElected)
    #expect(try await transfer().importStore(store).rows == 20_002)
  }
}
