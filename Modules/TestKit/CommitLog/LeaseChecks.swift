import TernCommitLog

extension CommitLogBench {
  /// The attempts to seize a lease: more than a busy leader appends meanwhile.
  private static let seizeAttempts = 1_000

  /// Takes the free lease of the leader, and returns its mark.
  func take(_ node: String) async throws -> LeaseMark {
    let outcome = try await renew(node, .free)
    guard case .held(let mark) = outcome else { throw CommitLogFailure("not taken: \(outcome)") }
    return mark
  }

  /// Takes the leader's lease from its holder as if it had expired.
  ///
  /// Every append of the holder renews the lease, so its mark may change between the look and the
  /// request.
  func seize(_ node: String, on log: any CommitLog) async throws -> LeaseMark {
    for _ in 0..<Self.seizeAttempts {
      guard let mark = try await log.open(shard).leader?.mark else {
        throw CommitLogFailure("no leader")
      }
      let request = LeaseRequest(node: node, address: node, condition: .unchanged(mark))
      if case .held(let mark) = try await log.renewLease(shard, request: request) { return mark }
    }
    throw CommitLogFailure("\(node) gets no lease in \(Self.seizeAttempts) attempts")
  }

  /// Requests a lease for a node, whose address follows from its name.
  func renew(
    _ node: String, _ condition: LeaseRequest.Condition, name: LeaseName = .leader
  ) async throws(CommitLogError) -> LeaseOutcome {
    let request = LeaseRequest(
      name: name, node: node, address: "\(node):1", condition: condition)
    return try await log.renewLease(shard, request: request)
  }

  /// Makes the mark of a lease.
  ///
  /// - Parameters:
  ///   - epoch: It rises when the lease changes hands.
  ///   - beat: It rises with each renewal.
  func mark(_ epoch: UInt64, _ beat: UInt64) -> LeaseMark {
    LeaseMark(epoch: LogEpoch(epoch), beat: beat)
  }

  /// Makes a lease that `renew` would have made.
  func lease(_ node: String, _ epoch: UInt64, _ beat: UInt64) -> Lease {
    Lease(node: node, address: "\(node):1", mark: mark(epoch, beat))
  }
}

/// The checks of leases.
///
/// They use no time: a lease that has expired is one whose mark did not change, which its taker has
/// to find out.
enum LeaseChecks {
  /// The lease of the leader, whose epoch fences appends.
  static let leader = [
    CommitLogCheck("a free lease is taken, renewed, and kept from others") { bench in
      try bench.expect(await bench.renew("a", .held), .free(.none), "a renewal of nothing")
      try bench.expect(await bench.renew("a", .free), .held(bench.mark(1, 1)), "taken")
      try bench.expect(await bench.renew("a", .held), .held(bench.mark(1, 2)), "renewed")
      // A request that is repeated after a lost answer renews.
      try bench.expect(await bench.renew("a", .free), .held(bench.mark(1, 3)), "asked again")
      let held = LeaseOutcome.heldElsewhere(bench.lease("a", 1, 3))
      try bench.expect(await bench.renew("b", .free), held, "asked by another")
      try bench.expect(await bench.renew("b", .held), held, "renewed by another")
      let state = try await bench.log.open(bench.shard)
      try bench.expect(state.leader, bench.lease("a", 1, 3), "the leader")
      try bench.expect(state.epoch, LogEpoch(1), "the epoch")
    },
    CommitLogCheck("a lease is taken over if its mark has not changed, and not otherwise") {
      bench in
      let old = try await bench.take("a")
      let new = bench.mark(1, 2)
      try bench.expect(await bench.renew("a", .held), .held(new), "renewed")
      let held = LeaseOutcome.heldElsewhere(bench.lease("a", 1, 2))
      try bench.expect(await bench.renew("b", .unchanged(old)), held, "an old mark")
      let taken = bench.mark(2, 3)
      try bench.expect(await bench.renew("b", .unchanged(new)), .held(taken), "the present mark")
      let lost = LeaseOutcome.heldElsewhere(bench.lease("b", 2, 3))
      try bench.expect(await bench.renew("a", .held), lost, "a renewal by the former holder")
      try bench.expect(
        await bench.renew("b", .unchanged(new)), .held(bench.mark(2, 4)), "the request repeated")
    },
    CommitLogCheck("an append renews the leader's lease") { bench in
      let mark = try await bench.take("a")
      try await bench.append(1...3)
      let held = LeaseOutcome.heldElsewhere(bench.lease("a", 1, 4))
      try bench.expect(await bench.renew("b", .unchanged(mark)), held, "taking over")
    },
    CommitLogCheck("a released lease is free, and its epoch is over") { bench in
      _ = try await bench.take("a")
      try await bench.append(1...1)
      try await bench.log.releaseLease(bench.shard, name: .leader, node: "b")
      let leader = try await bench.log.open(bench.shard).leader
      try bench.expect(leader?.node, "a", "the leader after a release by another")
      try await bench.log.releaseLease(bench.shard, name: .leader, node: "a")
      try bench.expect(await bench.log.open(bench.shard).leader, nil, "the leader")
      let late = try await bench.log.append(
        bench.draft(2), to: bench.shard, after: LogPosition(1), epoch: LogEpoch(1))
      try bench.expect(late, .fenced(LogEpoch(2)), "an append by the former leader")
      try bench.expect(await bench.renew("a", .held), .free(LogEpoch(2)), "its renewal")
      try bench.expect(await bench.renew("b", .free), .held(bench.mark(3, 3)), "taken")
      try await bench.append(2...2)
    },
    CommitLogCheck("a wait ends when the lease is taken or given back, and tells the epoch") {
      bench in
      let other = try await bench.place.connect()
      let wait = { @Sendable (epoch: UInt64, timeout: Duration) async throws(CommitLogError) in
        try await bench.log.waitForChange(
          in: bench.shard, after: .start, under: LogEpoch(epoch), timeout: timeout)
      }
      let request = LeaseRequest(node: "a", address: "a:1", condition: .free)
      for epoch: UInt64 in [0, 2] {
        try bench.expect(await wait(epoch, .milliseconds(1)), LogEpoch(epoch), "free")
        let taken = Task { try await wait(epoch, .seconds(600)) }
        _ = try await other.renewLease(bench.shard, request: request)
        try bench.expect(await taken.value, LogEpoch(epoch + 1), "taken")
        _ = try await other.renewLease(bench.shard, request: request)
        try bench.expect(await wait(epoch + 1, .milliseconds(1)), LogEpoch(epoch + 1), "renewed")
        let released = Task { try await wait(epoch + 1, .seconds(600)) }
        try await other.releaseLease(bench.shard, name: .leader, node: "a")
        try bench.expect(await released.value, LogEpoch(epoch + 2), "given back")
        try bench.expect(await wait(epoch, .seconds(600)), LogEpoch(epoch + 2), "over before")
      }
      await other.close()
    },
    CommitLogCheck("names of leases and nodes have limits") { bench in
      let long = { (count: Int) in String(repeating: "é", count: count / 2) }
      let (node, address) = (CommitLogLimits.nodeBytes, CommitLogLimits.addressBytes)
      let name = CommitLogLimits.leaseNameBytes
      func ask(
        _ extra: (name: Int, node: Int, address: Int)
      ) async throws(CommitLogError) -> LeaseOutcome {
        let request = LeaseRequest(
          name: LeaseName(long(name + extra.name)), node: long(node + extra.node),
          address: long(address + extra.address), condition: .free)
        return try await bench.log.renewLease(bench.shard, request: request)
      }
      try bench.expect(await ask((0, 0, 0)), .held(bench.mark(1, 1)), "the longest names")
      for (extra, limit) in [((2, 0, 0), name), ((0, 2, 0), node), ((0, 0, 2), address)] {
        try await bench.expectError(.tooLarge(limit: limit), "\(extra)") {
          () throws(CommitLogError) in try await ask(extra)
        }
      }
    },
  ]

  /// Leases of other names, which fence nothing, and the limits of their number.
  static let others = [
    CommitLogCheck("leases of other names are their own, and are listed") { bench in
      let (first, second) = (LeaseName("node b"), LeaseName("node a"))
      try bench.expect(
        await bench.renew("a", .held, name: first), .free(.none), "a renewal of nothing")
      try bench.expect(await bench.log.leases(of: bench.shard), [], "before the first")
      let taken = bench.mark(1, 1)
      try bench.expect(await bench.renew("a", .free, name: first), .held(taken), "the first")
      try bench.expect(await bench.renew("b", .free, name: second), .held(taken), "the second")
      let held = LeaseOutcome.heldElsewhere(bench.lease("a", 1, 1))
      try bench.expect(await bench.renew("b", .free, name: first), held, "asked by another")
      let over = bench.mark(2, 2)
      try bench.expect(
        await bench.renew("b", .unchanged(taken), name: first), .held(over), "taken over")
      try await bench.log.releaseLease(bench.shard, name: second, node: "b")
      let records = [
        LeaseRecord(name: second, mark: bench.mark(2, 1), holder: nil),
        LeaseRecord(name: first, mark: over, holder: bench.lease("b", 2, 2)),
      ]
      try bench.expect(await bench.log.leases(of: bench.shard), records, "the records")
      let state = try await bench.log.open(bench.shard)
      try bench.expect(state.epoch, .none, "the shard's epoch")
      try bench.expect(state.leader, nil, "the leader")
    },
    CommitLogCheck("a record is removed if it has the mark, and not otherwise") { bench in
      let name = LeaseName("node")
      _ = try await bench.renew("a", .free, name: name)
      let stale = bench.mark(1, 1)
      _ = try await bench.renew("a", .held, name: name)
      try await bench.log.removeLease(bench.shard, name: name, mark: stale)
      let kept = try await bench.log.leases(of: bench.shard)
      try bench.expect(kept.map(\.mark), [bench.mark(1, 2)], "the record that was renewed")
      try await bench.log.removeLease(bench.shard, name: name, mark: bench.mark(1, 2))
      try bench.expect(await bench.log.leases(of: bench.shard), [], "the removed record")
      try await bench.log.removeLease(bench.shard, name: name, mark: bench.mark(1, 2))
    },
    CommitLogCheck("a shard has so many leases and no more") { bench in
      let limit = CommitLogLimits.leasesPerShard
      for number in 0..<limit {
        _ = try await bench.renew("a", .free, name: LeaseName("lease \(number)"))
      }
      try await bench.expectError(.tooLarge(limit: limit), "one more") {
        () throws(CommitLogError) in
        try await bench.renew("a", .free, name: LeaseName("one more"))
      }
      let renewed = try await bench.renew("a", .held, name: LeaseName("lease 0"))
      try bench.expect(renewed, .held(bench.mark(1, 2)), "a lease that exists")
      try bench.expect(await bench.log.leases(of: bench.shard).count, limit, "the records")
      _ = try await bench.take("a")
    },
  ]
}
