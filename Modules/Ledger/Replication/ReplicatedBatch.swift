import TernStorage

/// The commits of one batch as the copies of a ledger apply them: validated, in order.
///
/// Source: Docs/Formats/shared-log.md, section 2.
package struct ReplicatedBatch: Sendable {
  /// The version before the first commit.
  package let versionBefore: Version
  /// The version behind the last commit.
  package private(set) var versionAfter: Version
  /// The commits, without the ranges and conditions that they were validated against.
  package private(set) var commits: [Commit] = []

  /// A batch without commits.
  package init(after version: Version) {
    versionBefore = version
    versionAfter = version
  }

  /// Adds a commit that was validated.
  mutating func append(_ commit: Commit) {
    var commit = commit
    (commit.reads, commit.preconditions, commit.readVersion) = ([], [], 0)
    // Longer ones are cut in the state of their stream.
    commit.outcome = Array(commit.outcome.prefix(LedgerLimits.outcomeBytes))
    if !commit.isOutcomeOnly { versionAfter += 1 }
    commits.append(commit)
  }

  /// Returns the bytes of the batch.
  package func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(variable: versionBefore)
    writer.append(variable: UInt64(commits.count))
    var version = versionBefore
    for commit in commits {
      if !commit.isOutcomeOnly { version += 1 }
      JournalEntry.append(commit, version, to: &writer)
      writer.append(counted: commit.record)
    }
    return writer.bytes
  }

  /// Decodes a batch; `nil` when the bytes are invalid.
  package init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let before = reader.variable(), let count = reader.variable(),
      count <= UInt64(bytes.count), before <= .max - count
    else { return nil }
    self.init(after: before)
    for _ in 0..<count {
      guard let entry = JournalEntry(from: &reader), let record = reader.counted() else {
        return nil
      }
      append(
        Commit(
          claim: entry.claim, mutations: entry.mutations, record: record, outcome: entry.outcome))
      guard let claim = entry.claim else { continue }
      guard entry.version == versionAfter, (1..<UInt64.max).contains(claim.id.sequence) else {
        return nil
      }
    }
    guard reader.isAtEnd else { return nil }
  }

  /// The streams that the batch writes to.
  package var streams: Set<UInt128> { Set(commits.compactMap { $0.claim?.id.stream }) }
}

/// The place of a batch in a shared log.
package struct ReplicaMark: Hashable, Sendable {
  /// The position of the batch; 0 before the first.
  package var position: UInt64
  /// The batch's identifier; `nil` when it is not known, as after a checkpoint was copied.
  package var id: UInt128?

  /// The place of a batch.
  package init(position: UInt64, id: UInt128?) {
    self.position = position
    self.id = id
  }

  /// The state of a store with regard to a shared log.
  package enum State: Hashable, Sendable {
    /// The store holds nothing.
    case empty
    /// A copy was begun and not finished.
    case partial
    /// The store is a copy as of this place.
    case copy(ReplicaMark)
    /// The store holds a ledger that is no copy of a shared log.
    case foreign
  }

  private enum Kind {
    static let partial: UInt8 = 0
    static let unknown: UInt8 = 1
    static let known: UInt8 = 2
  }

  static let partialRow: [UInt8] = [Kind.partial]

  var row: [UInt8] {
    var writer = ByteWriter()
    writer.append(id == nil ? Kind.unknown : Kind.known)
    writer.append(bigEndian: position)
    if let id { writer.append(bigEndian: id) }
    return writer.bytes
  }

  /// - Throws: ``StorageError/corruptRecord(key:)`` for an invalid row.
  static func state(
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> State {
    guard let row = try view.get(LedgerKey.replica) else {
      return try view.scan(limit: 1).isEmpty ? .empty : .foreign
    }
    var reader = ByteReader(row)
    let kind = reader.byte()
    if kind == Kind.partial, reader.isAtEnd { return .partial }
    guard kind == Kind.known || kind == Kind.unknown, let position = reader.bigEndian(UInt64.self)
    else { throw .corruptRecord(key: LedgerKey.replica) }
    var id: UInt128?
    if kind == Kind.known {
      guard let known = reader.bigEndian(UInt128.self) else {
        throw .corruptRecord(key: LedgerKey.replica)
      }
      id = known
    }
    guard reader.isAtEnd else { throw .corruptRecord(key: LedgerKey.replica) }
    return .copy(ReplicaMark(position: position, id: id))
  }
}
