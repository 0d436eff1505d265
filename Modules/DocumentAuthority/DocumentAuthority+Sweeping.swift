import TernCore
package import TernStorage

/// Limits for one run that removes expired document history.
///
/// A run is one commit among others. Its steps bound the time that it takes, and it takes more of
/// them the more scopes there are, because each step looks at one.
package enum DocumentSweepLimits {
  /// The fewest steps of one run.
  package static let leastSteps = 16
  /// The most steps of one run, independent of the number of collections.
  package static let mostSteps = 512
  /// One step for so many collections and groups: with a go every five seconds there are then more
  /// steps in a minute than collections and groups, each of which can need one.
  package static let scopesPerStep = 8
  /// The longest time whose changes one step forgets, in microseconds: a minute.
  ///
  /// A removal is one range, whose cost grows with the rows in it.
  package static let microsecondsPerStep: Int64 = 60_000_000
}

extension DocumentAuthority {
  /// Returns the number of steps that a run needs, so that sweeping keeps up with writes.
  package func sweepSteps(in reader: any StoreReader) throws(StorageError) -> Int {
    let scopes = Int(try DocumentReading(rows, reader).state().nextScope)
    return min(
      max(DocumentSweepLimits.leastSteps, scopes / DocumentSweepLimits.scopesPerStep),
      DocumentSweepLimits.mostSteps)
  }

  /// Forgets what documents were longer ago than ``DocumentAuthorityLimits/changeRetention``.
  ///
  /// A step looks at one collection or group, and forgets at most a minute's changes there; the
  /// next one goes on with what is left. Damaged records are forgotten like others, in their time.
  ///
  /// Only rows of kind `07` are removed. Reads as of an earlier time, resumed listeners and
  /// transactions use them, and none of these reaches behind the retention.
  ///
  /// - Parameters:
  ///   - scope: Where to go on; 0 to begin with.
  ///   - limit: The most steps.
  /// - Returns: What to commit, and where to go on next time; 0 when all were looked at.
  package func sweep(
    from scope: UInt32, limit: Int, in reader: any StoreReader
  ) throws(StorageError) -> (mutations: [Mutation], next: UInt32) {
    let reading = DocumentReading(rows, reader)
    let state = try reading.state()
    if state.last == .none { return ([], 0) }
    let known = try reading.forgotten()
    // Before this was noted, everything that old may have been forgotten.
    var forgotten = known ?? state.retentionFloor
    let (removals, next) = try reading.removals(
      from: scope, limit: limit, floor: state.retentionFloor.microseconds, &forgotten)
    if forgotten == known { return (removals, next) }
    var writer = ByteWriter()
    writer.append(bigEndian: forgotten.microseconds)
    return (removals + [.put(key: rows.key(.forgotten), value: writer.bytes)], next)
  }
}

extension DocumentReading {
  /// The removals of the steps of a run.
  ///
  /// - Parameter forgotten: The latest version whose changes are forgotten.
  fileprivate func removals(
    from scope: UInt32, limit: Int, floor: Int64,
    _ forgotten: inout DocumentVersion
  ) throws(StorageError) -> (mutations: [Mutation], next: UInt32) {
    let end = KeyRange.successor(ofPrefix: rows.key(.change))
    let prefixCount = rows.key(.change).count
    var start = rows.key(.change, scope)
    var next = scope
    var mutations: [Mutation] = []
    for _ in 0..<limit {
      guard let key = try firstKey(in: KeyRange(from: start, to: end)) else {
        return (mutations, 0)
      }
      let (found, version) = try Self.change(key, prefixCount)
      next = found
      if version < floor {
        let step = version.addingReportingOverflow(DocumentSweepLimits.microsecondsPerStep)
        let reach = DocumentVersion(
          microseconds: step.overflow ? floor : min(floor, step.partialValue))
        start = rows.changeKey(found, reach, index: 0)
        let removed = KeyRange(from: key, to: start)
        mutations.append(.remove(removed))
        if let last = try firstKey(in: removed, isReversed: true) {
          let version = try Self.change(last, prefixCount).version
          forgotten = max(forgotten, DocumentVersion(microseconds: version))
        }
      } else {
        if found == .max { return (mutations, 0) }
        next = found + 1
        start = rows.key(.change, next)
      }
    }
    return (mutations, next)
  }

  /// The scope and the version of a change, by the key of its row.
  private static func change(
    _ key: [UInt8], _ prefixCount: Int
  ) throws(StorageError) -> (scope: ScopeNumber, version: Int64) {
    var reader = ByteReader(key, from: prefixCount)
    guard let scope = reader.bigEndian(ScopeNumber.self),
      let version = reader.bigEndian(Int64.self)
    else { throw .corruptRecord(key: key) }
    return (scope, version)
  }
}
