import TernStorage

/// The state that an embedded ledger keeps in memory between commits; all of it can be read again.
struct Committer {
  /// The first and last commit in the log.
  var log: LogBounds
  /// The commits without rows so far; `nil` until it was read.
  var journal: Journal?
  /// The changes of the latest commits, oldest first; the last one is `log.last`. Without the
  /// values, which may be large.
  private var recent: [(version: Version, changed: [Mutation])] = []
  /// The stream the next search for expired ones begins after.
  var sweptKey: [UInt8] = StreamRow.range.lower
  /// The lived time of the next maintenance; `nil` until the ledger was asked for one.
  var nextMaintenance: Int64?

  init(log: LogBounds) {
    self.log = log
  }

  /// Returns true when a commit after `version` touched any of `ranges`, as far as is remembered.
  func hasConflict(with ranges: [KeyRange], since version: Version) -> Bool {
    if ranges.isEmpty || version >= log.last { return false }
    guard let oldest = recent.first?.version, oldest <= version + 1 else { return true }
    for commit in recent.reversed() where commit.version > version {
      for mutation in commit.changed {
        let changed = mutation.range
        if ranges.contains(where: { $0.overlaps(changed) }) { return true }
      }
    }
    return false
  }

  /// Returns true when maintenance is due.
  mutating func isMaintenanceDue(at now: Int64, _ options: LedgerOptions) -> Bool {
    let first = min(
      LedgerLimits.firstMaintenanceMilliseconds, options.maintenancePause.milliseconds)
    let due = nextMaintenance ?? now + first
    nextMaintenance = due
    return now >= due
  }

  mutating func remember(_ mutations: [Mutation], as version: Version) {
    if recent.count >= LedgerLimits.recentCommits * 2 {
      recent.removeFirst(LedgerLimits.recentCommits)
    }
    recent.append((version, Self.outline(of: mutations)))
  }

  /// The same changes without values; those that are many as one that covers them all.
  private static func outline(of mutations: [Mutation]) -> [Mutation] {
    guard mutations.count > LedgerLimits.rememberedChanges else {
      return mutations.map { mutation in
        if case .put(let key, _) = mutation { .put(key: key, value: []) } else { mutation }
      }
    }
    var whole = mutations[0].range
    for mutation in mutations.dropFirst() {
      let range = mutation.range
      if range.lower.lexicographicallyPrecedes(whole.lower) { whole.lower = range.lower }
      guard let upper = range.upper, let end = whole.upper else {
        whole.upper = nil
        continue
      }
      if end.lexicographicallyPrecedes(upper) { whole.upper = upper }
    }
    return [.remove(whole)]
  }
}
