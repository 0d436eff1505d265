public import TernStorage

/// The head of a backup: its place among others and the moment it shows.
///
/// Source: Docs/Formats/backup.md, section 2.
public struct BackupHeader: Hashable, Sendable {
  /// The last commit that the backup holds; 0 before the first.
  public var version: Version
  /// The moment of the backup, in milliseconds since 1970.
  public var time: Int64
  /// The same moment in the store's lived time, in milliseconds: commits are dated by that.
  public var lived: Int64
  /// The backup that this one is an increment of; `nil` for a whole one.
  public var base: Base?

  /// The backup below an increment.
  public struct Base: Hashable, Sendable {
    /// The ``BackupSummary/digest`` of the backup.
    public var digest: UInt64
    /// Its version.
    public var version: Version

    /// The backup with that digest and version.
    public init(digest: UInt64, version: Version) {
      self.digest = digest
      self.version = version
    }
  }

  /// A head; without a base, of a whole backup.
  public init(version: Version, time: Int64, lived: Int64, base: Base? = nil) {
    self.version = version
    self.time = time
    self.lived = lived
    self.base = base
  }
}

/// The end of a backup: what it comes to.
public struct BackupSummary: Hashable, Sendable {
  /// The number of rows in the state that it shows, with those that an increment leaves out.
  public var rows: UInt64
  /// The bytes of their keys and values.
  public var bytes: UInt64
  /// The checksum over all rows of the state, in order.
  public var contents: UInt64
  /// The checksum over the whole file, which names the backup.
  public var digest: UInt64
}

/// A range of keys, and the checksum of what it holds.
public struct BackupRange: Hashable, Sendable {
  /// The first key behind the range, which begins where the one before ends; `nil` for the last.
  public var upper: [UInt8]?
  /// The checksum over its rows.
  public var digest: UInt64
  /// The bytes of its keys and values.
  public var bytes: UInt64
}

/// The ranges of one backup: what an increment on it is compared with.
public struct BackupIndex: Hashable, Sendable {
  /// The backup.
  public var base: BackupHeader.Base
  /// All ranges, in order.
  public var ranges: [BackupRange]
}

/// The rows of one range.
public struct BackupBlock: Hashable, Sendable {
  /// The range: in it are these rows, and no others.
  public var range: KeyRange
  /// The rows, in order.
  public var rows: [Row]
}

/// One part of a backup.
public enum BackupSection: Hashable, Sendable {
  /// The first part.
  case header(BackupHeader)
  /// Rows of a range.
  case block(BackupBlock)
  /// Some of the ranges.
  case ranges([BackupRange])
  /// The last part.
  case end(BackupSummary)
}

/// The reason a backup cannot be made, read or restored.
public enum BackupError: Error, Hashable, Sendable {
  /// The bytes are no backup.
  case foreign
  /// The backup was written by a later version of this library. Upgrade.
  case newerFormat(found: Int, supported: Int)
  /// The bytes end before the backup does. Take another copy of it.
  case cut(at: UInt64)
  /// The bytes at this offset are not those that were written. Take another copy of the backup.
  case corrupt(at: UInt64)
  /// An increment was given without the backup it builds on, or behind another one.
  case wrongBase(version: Version)
  /// The restored rows are not those of the backup. Nothing may be concluded from them.
  case differs
  /// The log does not reach the commit that was asked for: it begins at `first`.
  case outOfReach(first: Version, last: Version)
  /// The bytes cannot be read or written; the text gives the reason.
  case inaccessible(String)
  /// The store failed.
  case storage(StorageError)
  /// The ledger in the store failed.
  case ledger(LedgerError)
}

/// The sizes of backups.
public enum BackupLimits {
  /// The version of the format that is written and read.
  public static let format = 1
  /// The bytes of keys and values at which a block ends, unless a single row is longer; twice as
  /// many after each ``rangesPerStep`` ranges, so that the index of a large store stays small.
  public static let blockBytes = 64 << 10
  /// The number of ranges after which blocks grow.
  public static let rangesPerStep = 1 << 16
  /// The bytes at which a part of the index ends.
  static let indexBytes = 256 << 10
  /// The most bytes of one section, and of the keys and values in one: a block with one row more
  /// than it has room for.
  public static let sectionBytes = 64 << 20
  /// The bytes that a restore writes in one storage write.
  static let writeBytes = 8 << 20
}
