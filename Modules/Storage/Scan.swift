/// A cursor's request to a backend: the rows still to come.
public struct Scan: Sendable {
  /// The keys still to visit; shrinks page by page.
  public private(set) var range: KeyRange

  /// True when rows go from the greatest key down.
  public let isReversed: Bool

  private var remaining: Int
  private var isStarted = false

  /// The first `limit` rows of `range` in the given direction.
  public init(_ range: KeyRange, isReversed: Bool = false, limit: Int = .max) {
    precondition(limit >= 0, "a scan's limit is not negative")
    self.range = range
    self.isReversed = isReversed
    self.remaining = limit
  }

  var firstPageRows: Int { min(remaining, RowPage.firstRows) }

  /// Empties `page` and moves the range past the rows it held; `false` when none are left.
  mutating func resume(after page: inout RowPage) -> Bool {
    if isStarted {
      guard page.isFull else { return false }
      remaining -= page.count
      var last = [UInt8](copying: page.key(at: page.count - 1))
      if isReversed {
        range.upper = last
      } else {
        last.append(0)
        range.lower = last
      }
      page.removeAll(rowCapacity: min(remaining, RowPage.maximumRows))
    }
    isStarted = true
    return remaining > 0 && !range.isEmpty
  }
}
