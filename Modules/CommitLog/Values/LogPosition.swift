/// The number of a batch in the log of its shard: 1 for the first, without gaps.
public struct LogPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number; 0 stands before the first batch.
  public var number: UInt64

  /// The position with this number.
  public init(_ number: UInt64) { self.number = number }

  /// The position before the first batch.
  public static let start = LogPosition(0)

  /// The position of the next batch.
  public var next: LogPosition { LogPosition(number + 1) }

  /// The number in decimal.
  public var description: String { String(number) }

  /// Returns true when the left position comes first.
  public static func < (left: LogPosition, right: LogPosition) -> Bool {
    left.number < right.number
  }
}

/// The number of a term of leadership. Every change of the leader raises it, and an append under an
/// earlier one has no effect.
public struct LogEpoch: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number; 0 before the first leader.
  public var number: UInt64

  /// The epoch with this number.
  public init(_ number: UInt64) { self.number = number }

  /// The epoch before the first leader.
  public static let none = LogEpoch(0)

  /// The epoch of the next leader.
  public var next: LogEpoch { LogEpoch(number + 1) }

  /// The number in decimal.
  public var description: String { String(number) }

  /// Returns true when the left epoch is the earlier one.
  public static func < (left: LogEpoch, right: LogEpoch) -> Bool { left.number < right.number }
}

/// The number of a shard: of one log among those in the same place.
public struct ShardID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number.
  public let number: UInt32

  /// The shard with this number.
  public init(_ number: UInt32) { self.number = number }

  /// The number in decimal.
  public var description: String { String(number) }

  /// Returns true when the left number is less.
  public static func < (left: ShardID, right: ShardID) -> Bool { left.number < right.number }
}
