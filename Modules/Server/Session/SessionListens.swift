/// The listens of one session, and which of them are to be judged again.
///
/// Adding, removing and finding one takes constant time, and their order depends on nothing but the
/// calls that were made.
struct SessionListens {
  private struct Entry {
    let group: ListenGroup
    /// The number of the review that has judged it last.
    var review: UInt64
  }

  private var entries: [Entry] = []
  private var positions: [ObjectIdentifier: Int] = [:]
  /// The number of the newest review.
  private var review: UInt64 = 0
  /// Entries from here on are judged by the newest review.
  private var reviewedFrom = 0

  var count: Int { entries.count }

  /// True when listens wait to be judged again.
  var isUnderReview: Bool { reviewedFrom > 0 }

  func contains(_ group: ListenGroup) -> Bool { positions[ObjectIdentifier(group)] != nil }

  /// Adds a listen that was judged just now.
  mutating func add(_ group: ListenGroup) {
    let entry = Entry(group: group, review: review)
    if let position = positions[ObjectIdentifier(group)] {
      entries[position] = entry
    } else {
      positions[ObjectIdentifier(group)] = entries.count
      entries.append(entry)
    }
  }

  mutating func remove(_ group: ListenGroup) {
    guard let position = positions.removeValue(forKey: ObjectIdentifier(group)) else { return }
    let last = entries.removeLast()
    guard position < entries.count else {
      reviewedFrom = min(reviewedFrom, entries.count)
      return
    }
    // A listen that was judged may take the place of one that waits; then it is met again.
    entries[position] = last
    positions[ObjectIdentifier(last.group)] = position
    reviewedFrom = min(reviewedFrom, entries.count)
  }

  /// Removes and returns the listens that were added last, at most `limit`.
  mutating func removeLast(_ limit: Int) -> [ListenGroup] {
    let removed = entries.suffix(limit).map(\.group)
    for group in removed { positions[ObjectIdentifier(group)] = nil }
    entries.removeLast(removed.count)
    reviewedFrom = min(reviewedFrom, entries.count)
    return removed
  }

  /// Lets all listens wait to be judged again. Takes constant time.
  mutating func beginReview() {
    review += 1
    reviewedFrom = entries.count
  }

  /// Returns the next listens that wait to be judged, at most `limit`, which count as judged.
  mutating func nextUnderReview(_ limit: Int) -> [ListenGroup] {
    var found: [ListenGroup] = []
    while found.count < limit, reviewedFrom > 0 {
      reviewedFrom -= 1
      if entries[reviewedFrom].review == review { continue }
      entries[reviewedFrom].review = review
      found.append(entries[reviewedFrom].group)
    }
    return found
  }

  /// Returns true when a listen waits to be judged; from now on it counts as judged.
  mutating func takeUnderReview(_ group: ListenGroup) -> Bool {
    guard let position = positions[ObjectIdentifier(group)], entries[position].review != review
    else { return false }
    entries[position].review = review
    return true
  }
}
