import TernCommitLog
import TernStorage

/// The log, leases and checkpoint of one shard.
struct ShardTable: Sendable {
  private struct Stored {
    let batch: LogBatch
    /// The time of the append on the log's clock, in milliseconds.
    let time: Int64
  }

  private struct Holding {
    var mark = LeaseMark(epoch: .none, beat: 0)
    var holder: (node: String, address: String)?

    var lease: Lease? {
      holder.map { Lease(node: $0.node, address: $0.address, mark: mark) }
    }
  }

  /// The batches that are kept, gap-free, the oldest first.
  private var stored: [Stored] = []
  private(set) var head = LogPosition.start
  private var leader = Holding()
  private var leases: [LeaseName: Holding] = [:]
  private var mark = LogPosition.start
  /// Sorted by key.
  private var rows: [Row] = []

  private var oldest: LogPosition { stored.first?.batch.position ?? head.next }

  var state: LogState {
    LogState(
      position: head, epoch: leader.mark.epoch, oldest: oldest, mark: mark, leader: leader.lease)
  }
}

extension ShardTable {
  mutating func append(
    _ draft: LogBatch.Draft, after position: LogPosition, epoch: LogEpoch, at time: Int64
  ) -> AppendOutcome {
    guard epoch == leader.mark.epoch else { return .fenced(leader.mark.epoch) }
    guard position == head else { return .behind(head: head) }
    head = head.next
    leader.mark.beat += 1
    let batch = LogBatch(position: head, epoch: epoch, id: draft.id, payload: draft.payload)
    stored.append(Stored(batch: batch, time: time))
    return .appended(head)
  }

  func batches(
    after position: LogPosition, following id: UInt128?, limit: Int, hiding hidden: UInt64
  ) throws(CommitLogError) -> [LogBatch] {
    guard position <= head else { throw .regressed(head: head) }
    guard position.next >= oldest else { throw .truncated(first: oldest) }
    if let id, position > .start {
      guard position >= oldest else { throw .truncated(first: oldest) }
      let batch = stored[Int(position.number - oldest.number)].batch
      guard batch.id == id else { throw .regressed(head: head) }
    }
    let first = stored.count - Int(head.number - position.number)
    let end = max(first, stored.count - Int(clamping: hidden))
    var page: [LogBatch] = []
    var bytes = 0
    for item in stored[first..<end].prefix(min(max(limit, 0), CommitLogLimits.batchesPerPage)) {
      bytes += item.batch.payload.count
      guard page.isEmpty || bytes <= CommitLogLimits.pageBytes else { break }
      page.append(item.batch)
    }
    return page
  }

  mutating func dropNewest(_ count: Int) {
    let behindMark = Int(clamping: head.number - mark.number)
    let dropped = min(max(count, 0), stored.count, behindMark)
    stored.removeLast(dropped)
    head = LogPosition(head.number - UInt64(dropped))
  }

  mutating func compact(keeping retention: LogRetention, at now: Int64) -> LogPosition {
    let horizon = now - retention.age.milliseconds
    let kept = min(retention.batches, mark.number)
    let last = LogPosition(mark.number - kept)
    let dropped = stored.prefix { $0.batch.position <= last && $0.time <= horizon }
    stored.removeFirst(dropped.count)
    return oldest
  }
}

extension ShardTable {
  mutating func renew(_ request: LeaseRequest) throws(CommitLogError) -> LeaseOutcome {
    guard request.name != .leader else { return Self.renew(&leader, request) }
    let limit = CommitLogLimits.leasesPerShard
    guard var holding = leases[request.name] else {
      guard request.condition != .held else { return .free(.none) }
      guard leases.count < limit else { throw .tooLarge(limit: limit) }
      var holding = Holding()
      defer { leases[request.name] = holding }
      return Self.renew(&holding, request)
    }
    defer { leases[request.name] = holding }
    return Self.renew(&holding, request)
  }

  private static func renew(_ holding: inout Holding, _ request: LeaseRequest) -> LeaseOutcome {
    if let lease = holding.lease, lease.node != request.node {
      guard request.condition == .unchanged(lease.mark) else { return .heldElsewhere(lease) }
    }
    if holding.holder?.node != request.node {
      guard request.condition != .held else { return .free(holding.mark.epoch) }
      holding.mark.epoch = holding.mark.epoch.next
    }
    holding.mark.beat += 1
    holding.holder = (request.node, request.address)
    return .held(holding.mark)
  }

  mutating func release(_ name: LeaseName, node: String) {
    guard name != .leader else { return Self.release(&leader, node: node) }
    guard var holding = leases[name] else { return }
    Self.release(&holding, node: node)
    leases[name] = holding
  }

  private static func release(_ holding: inout Holding, node: String) {
    guard holding.holder?.node == node else { return }
    holding.holder = nil
    holding.mark.epoch = holding.mark.epoch.next
  }

  var records: [LeaseRecord] {
    leases.map { LeaseRecord(name: $0.key, mark: $0.value.mark, holder: $0.value.lease) }
      .sorted { $0.name < $1.name }
  }

  mutating func remove(_ name: LeaseName, mark: LeaseMark) {
    if leases[name]?.mark == mark { leases[name] = nil }
  }
}

extension ShardTable {
  func checkpoint(after key: [UInt8]?, limit: Int) throws(CommitLogError) -> CheckpointPage {
    let first = key.map { index(of: $0 + [0]) } ?? 0
    var end = first
    var bytes = 0
    let last = min(rows.count, first + min(max(limit, 0), CommitLogLimits.rowsPerPage))
    while end < last {
      bytes += rows[end].key.count + rows[end].value.count
      guard end == first || bytes <= CommitLogLimits.pageBytes else { break }
      end += 1
    }
    return CheckpointPage(
      position: mark, rows: Array(rows[first..<end]), isLast: end == rows.count)
  }

  mutating func advance(
    from expected: LogPosition, to position: LogPosition, epoch: LogEpoch, changes: [Mutation]
  ) throws(CommitLogError) -> CheckpointOutcome {
    guard expected == mark else { return .elsewhere(mark: mark) }
    guard epoch == leader.mark.epoch else { return .fenced(leader.mark.epoch) }
    guard position <= head, position >= mark else { throw .regressed(head: head) }
    for change in changes { apply(change) }
    mark = position
    return .advanced(mark)
  }

  private mutating func apply(_ change: Mutation) {
    switch change {
    case .put(let key, let value):
      let index = index(of: key)
      if index < rows.count, rows[index].key == key {
        rows[index].value = value
      } else {
        rows.insert(Row(key: key, value: value), at: index)
      }
    case .remove(let range):
      guard !range.isEmpty else { return }
      let end = range.upper.map { index(of: $0) } ?? rows.count
      rows.removeSubrange(index(of: range.lower)..<end)
    }
  }

  /// The index of the first row whose key is not before `key`.
  private func index(of key: [UInt8]) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      let isBefore = rows[middle].key.lexicographicallyPrecedes(key)
      (low, high) = isBefore ? (middle + 1, high) : (low, middle)
    }
    return low
  }
}

extension Duration {
  /// Whole milliseconds; the largest number for what does not fit.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    return overflow ? Int64.max >> 1 : product + attoseconds / 1_000_000_000_000_000
  }
}
