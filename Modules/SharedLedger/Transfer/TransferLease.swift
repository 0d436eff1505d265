import TernCommitLog

/// The lease of a shard's leader in the hands of a transfer: while it lasts, no node commits.
struct TransferLease {
  let log: any CommitLog
  let shard: ShardID
  let environment: NodeEnvironment
  let node: String
  private(set) var epoch = LogEpoch.none
  private var renewed: Int64 = 0

  /// Takes the lease. One that its holder does not renew is taken over.
  ///
  /// - Throws: ``ShardTransferError/inUse(by:)`` when a node renews it.
  init(
    of shard: ShardID, in log: any CommitLog, _ environment: NodeEnvironment
  ) async throws(ShardTransferError) {
    self.log = log
    self.shard = shard
    self.environment = environment
    node = "transfer#\(String(environment.randomBits(), radix: 16))"
    let state = try await ShardTransferError.log { () async throws(CommitLogError) in
      try await log.open(shard)
    }
    var condition = LeaseRequest.Condition.free
    if let holder = state.leader {
      condition = try await Self.wait(for: holder, of: shard, in: log, environment)
    }
    try await renew(condition)
  }

  /// Waits until the lease is free, or for as long as a leader may take to renew it.
  private static func wait(
    for holder: Lease, of shard: ShardID, in log: any CommitLog, _ environment: NodeEnvironment
  ) async throws(ShardTransferError) -> LeaseRequest.Condition {
    let begun = environment.uptime()
    while environment.uptime() - begun < SharedLedgerLimits.transferPatience.wholeMilliseconds {
      try? await environment.clock.sleep(for: SharedLedgerLimits.transferLook)
      let state = try await ShardTransferError.log { () async throws(CommitLogError) in
        try await log.open(shard)
      }
      guard let leader = state.leader else { return .free }
      guard leader.mark == holder.mark else { throw .inUse(by: Self.name(of: leader)) }
    }
    return .unchanged(holder.mark)
  }

  private mutating func renew(
    _ condition: LeaseRequest.Condition
  ) async throws(ShardTransferError) {
    let begun = environment.uptime()
    let request = LeaseRequest(node: node, address: "", condition: condition)
    let outcome = try await ShardTransferError.log { () async throws(CommitLogError) in
      try await log.retrying(environment) { log throws(CommitLogError) in
        try await log.renewLease(shard, request: request)
      }
    }
    switch outcome {
    case .held(let mark) where epoch == .none || mark.epoch == epoch:
      (epoch, renewed) = (mark.epoch, begun)
    case .heldElsewhere(let lease): throw .inUse(by: Self.name(of: lease))
    case .held, .free: throw .inUse(by: "another node")
    }
  }

  /// Renews the lease when it is due. Called between two steps of a transfer.
  mutating func keep() async throws(ShardTransferError) {
    let interval = SharedLedgerLimits.transferRenewal.wholeMilliseconds
    if environment.uptime() - renewed >= interval { try await renew(.held) }
  }

  /// Proves that no other node has held the lease since it was taken.
  mutating func confirm() async throws(ShardTransferError) { try await renew(.held) }

  /// Gives the lease back.
  func release() async {
    try? await log.releaseLease(shard, name: .leader, node: node)
  }

  private static func name(of lease: Lease) -> String {
    lease.address.isEmpty ? lease.node : lease.address
  }
}

extension CommitLog {
  /// Repeats an operation that may be repeated while it fails for a reason that passes.
  func retrying<R>(
    _ environment: NodeEnvironment, _ body: (any CommitLog) async throws(CommitLogError) -> R
  ) async throws(CommitLogError) -> R {
    var attempts = 0
    while true {
      do throws(CommitLogError) { return try await body(self) } catch {
        attempts += 1
        guard error.isTransient, attempts < SharedLedgerLimits.transferAttempts else { throw error }
        try? await environment.clock.sleep(for: SharedLedgerLimits.transferLook)
      }
    }
  }
}
