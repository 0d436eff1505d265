/// Decides when free memory is given back to the system: once clients hold much less than before,
/// and once they have held somewhat less for a while.
struct MemoryTrim {
  /// Less than this is given back only when what clients hold has stopped to change.
  static let largeBytes = 32 << 20
  /// Less than this is not worth the time to give it back, and no change.
  static let smallBytes = 1 << 20
  /// The number of looks, one behind the other, at which nothing has changed.
  static let calmLooks = 2
  /// The looks after which it is time once more: a store lets go of what it does not use later
  /// than clients.
  static let laterLooks = 4

  /// The most memory that clients held since free memory was given back.
  private var peakBytes = 0
  /// The looks at which nothing has changed.
  private var looks = 0
  /// The looks until it is time once more; `nil` when it is not.
  private var left: Int?

  /// Takes a look.
  ///
  /// - Parameters:
  ///   - usedBytes: The memory that clients hold now.
  ///   - recentBytes: The most that they held at once since the last look.
  /// - Returns: Whether it is time to give free memory back.
  mutating func isDue(usedBytes: Int, recentBytes: Int) -> Bool {
    let isLater = left == 1
    left = isLater ? nil : left.map { $0 - 1 }
    peakBytes = max(peakBytes, recentBytes)
    looks = recentBytes - usedBytes < Self.smallBytes ? looks + 1 : 0
    let fallen = peakBytes - usedBytes
    let isCalm = looks >= Self.calmLooks && fallen >= Self.smallBytes
    guard fallen > Self.largeBytes || isCalm else { return isLater }
    peakBytes = 0
    left = Self.laterLooks
    return true
  }
}
