import TernCommitLog
import TernLogMemory
import TernStorage
import TernTestKit
import Testing

private let shard = ShardID(3)

@Suite("the rules of a log, against a plain model")
struct LogTablesTests {
  /// The promises of a log, in arrays.
  private struct Model {
    var batches: [LogBatch] = []
    var oldest: UInt64 = 1
    var epoch: UInt64 = 0
    var leader: String?
    var mark: UInt64 = 0
    var rows: [[UInt8]: [UInt8]] = [:]

    var head: UInt64 { UInt64(batches.count) }
  }

  private let nodes = ["a", "b", "c"]

  private func renew(
    _ tables: inout LogTables, _ model: inout Model, _ random: inout SeededGenerator
  ) throws {
    let node = nodes[random.roll(3)]
    let state = tables.open(shard)
    let conditions: [LeaseRequest.Condition] = [
      .held, .free, .unchanged(state.leader?.mark ?? LeaseMark(epoch: state.epoch, beat: 0)),
      .unchanged(LeaseMark(epoch: state.epoch, beat: .max)),
    ]
    let choice = random.roll(4)
    let outcome = try tables.renewLease(
      shard, request: LeaseRequest(node: node, address: "x", condition: conditions[choice]))
    switch outcome {
    case .held(let mark):
      // It is renewed by its holder, taken when free, or taken over as the request allows.
      #expect(model.leader == node || model.leader == nil && choice != 0 || choice == 2)
      if model.leader != node { model.epoch += 1 }
      model.leader = node
      #expect(mark.epoch.number == model.epoch)
    case .heldElsewhere(let lease):
      #expect(lease.node == model.leader && lease.node != node && choice != 2)
    case .free(let epoch):
      #expect(model.leader == nil && choice == 0 && epoch.number == model.epoch)
    }
  }

  private func append(
    _ tables: inout LogTables, _ model: inout Model, _ random: inout SeededGenerator, at time: Int64
  ) throws {
    let position = LogPosition(max(0, model.head &- UInt64(random.roll(3) == 0 ? 1 : 0)))
    let epoch = LogEpoch(model.epoch &- (model.epoch > 0 && random.roll(4) == 0 ? 1 : 0))
    let draft = LogBatch.Draft(id: UInt128(random.next()), payload: [UInt8(random.roll(256))])
    let expected: AppendOutcome
    if epoch.number != model.epoch {
      expected = .fenced(LogEpoch(model.epoch))
    } else if position.number != model.head {
      expected = .behind(head: LogPosition(model.head))
    } else {
      expected = .appended(LogPosition(model.head + 1))
      model.batches.append(
        LogBatch(position: position.next, epoch: epoch, id: draft.id, payload: draft.payload))
    }
    #expect(
      try tables.append(draft, to: shard, after: position, epoch: epoch, at: time) == expected)
  }

  private func advance(
    _ tables: inout LogTables, _ model: inout Model, _ random: inout SeededGenerator
  ) throws {
    let key: [UInt8] = [UInt8(random.roll(4))]
    let changes: [Mutation] = [
      random.roll(2) == 0
        ? .put(key: key, value: [UInt8(random.roll(9))]) : .remove(KeyRange(from: key))
    ]
    let from = LogPosition(model.mark &+ UInt64(random.roll(4) == 0 ? 1 : 0))
    let target = LogPosition(from.number + UInt64(random.roll(3)))
    let epoch = LogEpoch(model.epoch &+ (random.roll(4) == 0 ? 1 : 0))
    guard from.number == model.mark else {
      let outcome = try tables.advanceCheckpoint(
        of: shard, from: from, to: target, epoch: epoch, changes: changes)
      #expect(outcome == .elsewhere(mark: LogPosition(model.mark)))
      return
    }
    guard epoch.number == model.epoch else {
      let outcome = try tables.advanceCheckpoint(
        of: shard, from: from, to: target, epoch: epoch, changes: changes)
      #expect(outcome == .fenced(LogEpoch(model.epoch)))
      return
    }
    guard target.number <= model.head else {
      #expect(throws: CommitLogError.regressed(head: LogPosition(model.head))) {
        try tables.advanceCheckpoint(
          of: shard, from: from, to: target, epoch: epoch, changes: changes)
      }
      return
    }
    let outcome = try tables.advanceCheckpoint(
      of: shard, from: from, to: target, epoch: epoch, changes: changes)
    #expect(outcome == .advanced(target))
    model.mark = target.number
    switch changes[0] {
    case .put(let key, let value): model.rows[key] = value
    case .remove(let range): model.rows = model.rows.filter { !range.contains($0.key.span) }
    }
  }

  private func check(_ tables: LogTables, _ model: Model) throws {
    var copy = tables
    let state = copy.open(shard)
    #expect(state.position.number == model.head && state.epoch.number == model.epoch)
    #expect(state.mark.number == model.mark && state.leader?.node == model.leader)
    #expect(state.oldest.number == model.oldest)
    for after in model.oldest - 1...model.head {
      let read = try tables.batches(in: shard, after: LogPosition(after), limit: 100)
      #expect(read == Array(model.batches[Int(after)...]))
      let hidden = try tables.batches(in: shard, after: LogPosition(after), limit: 1, hiding: 2)
      #expect(hidden == Array(model.batches[Int(after)...].dropLast(2).prefix(1)))
    }
    #expect(throws: CommitLogError.regressed(head: LogPosition(model.head))) {
      try tables.batches(in: shard, after: LogPosition(model.head + 1), limit: 1)
    }
    if model.oldest > 1 {
      #expect(throws: CommitLogError.truncated(first: LogPosition(model.oldest))) {
        try tables.batches(in: shard, after: LogPosition(model.oldest - 2), limit: 1)
      }
    }
    let page = try tables.checkpoint(of: shard, after: nil, limit: 100)
    #expect(Dictionary(uniqueKeysWithValues: page.rows.map { ($0.key, $0.value) }) == model.rows)
    #expect(page.isLast && page.position.number == model.mark)
  }

  @Test("a log, its lease and its checkpoint do what they promise", arguments: UInt64(1)...25)
  func model(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var tables = LogTables()
    var model = Model()
    _ = tables.open(shard)
    for step in 0..<120 {
      switch random.roll(8) {
      case 0, 1: try renew(&tables, &model, &random)
      case 2:
        let node = nodes[random.roll(3)]
        try tables.releaseLease(shard, name: .leader, node: node)
        if model.leader == node { (model.leader, model.epoch) = (nil, model.epoch + 1) }
      case 3...5: try append(&tables, &model, &random, at: Int64(step))
      case 6: try advance(&tables, &model, &random)
      default:
        let kept = UInt64(random.roll(3))
        let age = Int64(random.roll(60))
        let retention = LogRetention(batches: kept, age: .milliseconds(age))
        let before = model.oldest
        model.oldest = try tables.compact(shard, keeping: retention, at: Int64(step)).number
        // What the checkpoint lacks is kept, and so many batches before its mark.
        #expect(model.oldest >= before)
        #expect(model.oldest == before || model.oldest - 1 + kept <= model.mark)
      }
      try check(tables, model)
    }
  }

  @Test(
    "a page of the checkpoint goes on behind a key, and ends with the last row", arguments: 1...7)
  func pages(limit: Int) throws {
    var tables = LogTables()
    _ = tables.open(shard)
    let keys: [[UInt8]] = [[], [0], [0, 0], [1], [255], [255, 255]]
    _ = try tables.advanceCheckpoint(
      of: shard, from: .start, to: .start, epoch: .none,
      changes: keys.reversed().map { .put(key: $0, value: $0) }
    )
    var found: [[UInt8]] = []
    var after: [UInt8]?
    while true {
      let page = try tables.checkpoint(of: shard, after: after, limit: limit)
      #expect(page.rows.count <= limit && page.rows.allSatisfy { $0.key == $0.value })
      found += page.rows.map(\.key)
      if page.isLast { break }
      after = try #require(page.rows.last?.key)
    }
    #expect(found == keys)
  }

  @Test("shards know nothing of one another, and none is there before it is opened")
  func shards() throws {
    var tables = LogTables()
    let other = ShardID(4)
    _ = tables.open(shard)
    #expect(throws: CommitLogError.unknownShard) { try tables.head(of: other) }
    #expect(throws: CommitLogError.unknownShard) {
      try tables.renewLease(other, request: .init(node: "a", address: "", condition: .free))
    }
    _ = tables.open(other)
    _ = try tables.append(
      .init(id: 1, payload: []), to: other, after: .start, epoch: .none, at: 0)
    #expect(try tables.head(of: shard) == .start && tables.head(of: other).number == 1)
    #expect(tables.open(other).position.number == 1, "opening again changes nothing")
    #expect(tables.openShards == [shard, other])
  }

  @Test("sizes at their borders", arguments: [-1, 0, 1])
  func limits(excess: Int) throws {
    func expect(_ limit: Int, _ body: () throws -> Void) {
      var found: CommitLogError?
      do { try body() } catch { found = error as? CommitLogError }
      #expect(found == (excess > 0 ? .tooLarge(limit: limit) : nil))
    }
    var tables = LogTables()
    _ = tables.open(shard)
    func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count + excess) }
    func text(_ count: Int) -> String { String(repeating: "n", count: count + excess) }
    expect(CommitLogLimits.payloadBytes) {
      _ = try tables.append(
        .init(id: 1, payload: bytes(CommitLogLimits.payloadBytes)), to: shard, after: .start,
        epoch: .none, at: 0)
    }
    expect(CommitLogLimits.nodeBytes) {
      _ = try tables.renewLease(
        shard, request: .init(node: text(CommitLogLimits.nodeBytes), address: "", condition: .held))
    }
    expect(CommitLogLimits.addressBytes) {
      _ = try tables.renewLease(
        shard,
        request: .init(node: "a", address: text(CommitLogLimits.addressBytes), condition: .held))
    }
    expect(CommitLogLimits.leaseNameBytes) {
      _ = try tables.renewLease(
        shard,
        request: .init(
          name: LeaseName(text(CommitLogLimits.leaseNameBytes)), node: "a", address: "",
          condition: .held))
    }
    expect(StorageLimits.keyBytes) {
      try CommitLogLimits.check([.put(key: bytes(StorageLimits.keyBytes), value: [])])
    }
    expect(StorageLimits.valueBytes) {
      try CommitLogLimits.check([.put(key: [], value: bytes(StorageLimits.valueBytes))])
    }
    expect(StorageLimits.keyBytes) {
      try CommitLogLimits.check([.remove(KeyRange(only: bytes(StorageLimits.keyBytes)))])
    }
    expect(CommitLogLimits.checkpointChanges) {
      let change = Mutation.remove(KeyRange(only: []))
      try CommitLogLimits.check(
        [Mutation](repeating: change, count: CommitLogLimits.checkpointChanges + excess))
    }
  }

  @Test("leases of other names are many, and taken, renewed and given back alone")
  func leases() throws {
    var tables = LogTables()
    _ = tables.open(shard)
    let name = LeaseName("work")
    func request(_ node: String, _ condition: LeaseRequest.Condition) -> LeaseRequest {
      LeaseRequest(name: name, node: node, address: "x", condition: condition)
    }
    #expect(try tables.renewLease(shard, request: request("a", .held)) == .free(.none))
    #expect(try tables.leases(of: shard).isEmpty, "a request that takes nothing leaves no record")
    guard case .held(let first) = try tables.renewLease(shard, request: request("a", .free)) else {
      Issue.record("a free lease is not taken")
      return
    }
    guard case .held(let second) = try tables.renewLease(shard, request: request("a", .held)) else {
      Issue.record("a lease is not renewed by its holder")
      return
    }
    #expect(second.epoch == first.epoch && second.beat > first.beat)
    let stale = try tables.renewLease(shard, request: request("b", .unchanged(first)))
    #expect(stale == .heldElsewhere(Lease(node: "a", address: "x", mark: second)))
    try tables.releaseLease(shard, name: name, node: "b")
    #expect(try tables.leases(of: shard).first?.holder?.node == "a")
    try tables.releaseLease(shard, name: name, node: "a")
    let record = try #require(try tables.leases(of: shard).first)
    #expect(record.holder == nil && record.mark.epoch > second.epoch)
    try tables.removeLease(shard, name: name, mark: second)
    #expect(try tables.leases(of: shard).count == 1, "a record that has changed is kept")
    try tables.removeLease(shard, name: name, mark: record.mark)
    #expect(try tables.leases(of: shard).isEmpty)
    #expect(tables.open(shard).epoch == .none, "the leader's lease is another one")
  }
}
