public import TernStorage

/// A page of a checkpoint's rows.
public struct CheckpointPage: Hashable, Sendable {
  /// The checkpoint's mark when the page was read.
  public var position: LogPosition
  /// The rows, in key order.
  public var rows: [Row]
  /// True when no row follows.
  public var isLast: Bool

  /// A page of rows.
  public init(position: LogPosition, rows: [Row], isLast: Bool) {
    self.position = position
    self.rows = rows
    self.isLast = isLast
  }
}

/// The answer to an advance of a checkpoint.
public enum CheckpointOutcome: Hashable, Sendable {
  /// The changes are durable and the mark is at this position.
  case advanced(LogPosition)
  /// Nothing was changed: the mark is another one than the call named, moved by another node or by
  /// an earlier attempt of this one.
  case elsewhere(mark: LogPosition)
  /// Nothing was changed: the shard's epoch is this one.
  case fenced(LogEpoch)
}

extension CommitLogLimits {
  /// Checks the size of an advance of a checkpoint.
  ///
  /// - Throws: ``CommitLogError/tooLarge(limit:)``.
  public static func check(_ changes: [Mutation]) throws(CommitLogError) {
    guard changes.count <= checkpointChanges else { throw .tooLarge(limit: checkpointChanges) }
    var bytes = 0
    for change in changes {
      let longest: (key: Int, value: Int) =
        switch change {
        case .put(let key, let value): (key.count, value.count)
        case .remove(let range): (max(range.lower.count, (range.upper?.count ?? 1) - 1), 0)
        }
      guard longest.key <= StorageLimits.keyBytes else {
        throw .tooLarge(limit: StorageLimits.keyBytes)
      }
      guard longest.value <= StorageLimits.valueBytes else {
        throw .tooLarge(limit: StorageLimits.valueBytes)
      }
      bytes += longest.key + longest.value
    }
    guard bytes <= checkpointBytes else { throw .tooLarge(limit: checkpointBytes) }
  }
}
