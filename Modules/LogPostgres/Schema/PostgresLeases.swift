import TernCommitLog

/// One lease of a shard in the tables: the leader's in the row of the shard, others in rows of
/// their own.
///
/// A lease has an *epoch*, which each new holder raises, and a *beat*, which each renewal raises.
/// Time is not compared between machines: a node that wants the lease watches both, and takes it if
/// they have not changed for long enough on its own clock.
struct PostgresLeases: Sendable {
  let shard: ShardID
  let name: LeaseName

  private var isLeader: Bool { name == .leader }

  /// The parameters that select the lease's row.
  private var key: [PostgresValue] {
    let number = PostgresValue.number(Int64(shard.number))
    return isLeader ? [number] : [number, .bytes(Array(name.text.utf8))]
  }

  /// The present state of the lease's row.
  private struct State {
    let mark: LeaseMark
    let holder: Lease?
  }

  /// Renews the lease, or takes it where the request's condition allows that.
  ///
  /// The order of statements: renew if the node holds the lease, take it if the condition allows,
  /// else read who holds it. Each is atomic alone; a change between two of them leads to another
  /// round, ``PostgresLimits/leaseAttempts`` at most.
  ///
  /// - Returns: `held` with the new mark, `heldElsewhere` with the holder, or `free` for a node
  ///   that wanted to keep a lease it has lost.
  func renew(
    _ request: LeaseRequest, _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> Answer<LeaseOutcome> {
    let node = PostgresValue.bytes(Array(request.node.utf8))
    let address = PostgresValue.bytes(Array(request.address.utf8))
    for _ in 0..<PostgresLimits.leaseAttempts {
      let renewed = try connection.run(
        isLeader ? .renewLeader : .renewLease, key + [node, address], deadline: deadline)
      if let mark = try mark(renewed) { return .success(.held(mark)) }
      if request.condition != .held {
        let taken = try connection.run(
          isLeader ? .takeLeader : .takeLease, key + [node, address] + expired(request.condition),
          deadline: deadline)
        if let mark = try mark(taken) { return .success(.held(mark)) }
      }
      guard let state = try state(connection, deadline) else {
        if isLeader { return .failure(.unknownShard) }
        if request.condition == .held { return .success(.free(.none)) }
        if let answer = try insert([node, address], connection, deadline) { return answer }
        continue
      }
      guard let holder = state.holder else {
        if request.condition == .held { return .success(.free(state.mark.epoch)) }
        continue
      }
      if holder.node != request.node { return .success(.heldElsewhere(holder)) }
    }
    throw .refused(state: "40001", message: "the lease changes all the time")
  }

  /// Gives the lease back if `node` has it.
  func release(
    node: String, _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) {
    try connection.run(
      isLeader ? .releaseLeader : .releaseLease, key + [.bytes(Array(node.utf8))],
      deadline: deadline)
  }

  /// Removes the row of a lease that is not the leader's, if it is unchanged since `mark`.
  func remove(
    mark: LeaseMark, _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) {
    guard !isLeader else { return }
    try connection.run(.removeLease, key + values(of: mark), deadline: deadline)
  }

  static func all(
    of shard: ShardID, _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> [LeaseRecord] {
    let rows = try connection.run(
      .leases, [.number(Int64(shard.number))], deadline: deadline)
    var records: [LeaseRecord] = []
    for row in 0..<rows.count {
      let state = try state(rows, row)
      records.append(
        LeaseRecord(
          name: LeaseName(try rows.text(row, 4) ?? ""), mark: state.mark, holder: state.holder))
    }
    return records.sorted { $0.name < $1.name }
  }
}

extension PostgresLeases {
  /// Creates the row of a lease for its first holder, within the limit of leases. Returns `nil` if
  /// another node has created it meanwhile.
  ///
  /// One statement, without a lock on the shard's row: a node that is paused between two of them
  /// would keep every other one from appending and from taking the lease. Nodes that create rows in
  /// the same moment may exceed the limit by each other's.
  private func insert(
    _ holder: [PostgresValue], _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> Answer<LeaseOutcome>? {
    let number = PostgresValue.number(Int64(shard.number))
    let limit = CommitLogLimits.leasesPerShard
    let inserted = try connection.run(
      .insertLease, key + holder + [.number(Int64(limit))], deadline: deadline)
    if let mark = try mark(inserted) { return .success(.held(mark)) }
    let shards = try connection.run(.appendState, [number], deadline: deadline)
    guard shards.count == 1 else { return .failure(.unknownShard) }
    if try state(connection, deadline) != nil { return nil }
    let count = try connection.run(.countLeases, [number], deadline: deadline).count(0, 0)
    return count < limit ? nil : .failure(.tooLarge(limit: limit))
  }

  private func state(
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> State? {
    let rows = try connection.run(isLeader ? .leader : .lease, key, deadline: deadline)
    return rows.count == 1 ? try Self.state(rows, 0) : nil
  }

  private static func state(_ rows: PostgresRows, _ row: Int) throws(PostgresFailure) -> State {
    let mark = LeaseMark(epoch: LogEpoch(try rows.count(row, 0)), beat: try rows.count(row, 1))
    let address = try rows.text(row, 3) ?? ""
    let holder = try rows.text(row, 2).map { Lease(node: $0, address: address, mark: mark) }
    return State(mark: mark, holder: holder)
  }

  private func mark(_ rows: PostgresRows) throws(PostgresFailure) -> LeaseMark? {
    guard rows.count == 1 else { return nil }
    return LeaseMark(epoch: LogEpoch(try rows.count(0, 0)), beat: try rows.count(0, 1))
  }

  /// The mark at which the lease counts as expired: none for a request for a free one.
  ///
  /// -1 never matches an epoch or a beat.
  private func expired(_ condition: LeaseRequest.Condition) -> [PostgresValue] {
    guard case .unchanged(let mark) = condition else { return [.number(-1), .number(-1)] }
    return values(of: mark)
  }

  private func values(of mark: LeaseMark) -> [PostgresValue] {
    [.number(Int64(clamping: mark.epoch.number)), .number(Int64(clamping: mark.beat))]
  }
}
