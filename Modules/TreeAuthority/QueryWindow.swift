import TernCore
package import TernQuery

/// The children that a filtered query shows now, kept up to date as writes come in.
///
/// It remembers names and what they sort by, not the children themselves; beyond the limit it
/// knows a few more candidates, so that a child that leaves has a successor at hand. All that
/// listen to the same query share one window.
package struct QueryWindow: Sendable {
  /// A child by what places it.
  struct Candidate: Equatable {
    let key: TreeKey
    let value: TreeSortValue
  }

  /// The query the window is of.
  package let query: TreeQuery

  let range: TreeRange
  /// The most children shown.
  let limit: Int
  /// The most candidates kept.
  private let capacity: Int
  private let countsFromLast: Bool
  /// The best first: in the query's order, or against it when the limit counts from the end.
  private(set) var candidates: [Candidate] = []
  private var values: [TreeKey: TreeSortValue] = [:]
  /// `true` if every child in range is a candidate.
  private(set) var isComplete = true

  /// An empty window, to be loaded.
  package init(_ query: TreeQuery) {
    self.query = query
    range = TreeRange(query)
    limit = query.limit?.count ?? .max
    capacity = query.limit.map { $0.count + min(max($0.count, 16), 1_024) } ?? .max
    countsFromLast = query.limit?.side == .last
  }

  /// The number of children it keeps the names of, those beyond the limit included.
  package var count: Int { candidates.count }

  /// The number of children it shows.
  package var shownCount: Int { shown.count }

  /// The names of the children shown, best first.
  var shown: ArraySlice<Candidate> { candidates.prefix(limit) }

  /// `true` if there are too few candidates while more children in range may exist.
  var needsLoading: Bool { !isComplete && candidates.count < limit }

  /// `true` if the window takes another candidate only in place of a worse one.
  var isFull: Bool { candidates.count == capacity }

  /// Returns the sort value of a candidate; `nil` when the child is not a candidate.
  func value(of key: TreeKey) -> TreeSortValue? { values[key] }

  /// Returns `true` if the window shows the child.
  func shows(_ key: TreeKey) -> Bool {
    guard let value = values[key] else { return false }
    return candidates.count <= limit || index(of: Candidate(key: key, value: value)) < limit
  }

  /// Forgets everything; the window is complete as long as nothing is turned away.
  mutating func reset() {
    candidates.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    isComplete = true
  }

  /// Takes in a child in range if it is known to be among the best.
  ///
  /// - Returns: The candidate that had to go for it: itself when it was turned away.
  @discardableResult
  mutating func offer(_ candidate: Candidate) -> Candidate? {
    if !isComplete || isFull {
      // Behind the last candidate there may be better children than this one.
      guard let last = candidates.last, precedes(candidate, last) else {
        isComplete = false
        return candidate
      }
    }
    let dropped = isFull ? candidates.removeLast() : nil
    if let dropped {
      values[dropped.key] = nil
      isComplete = false
    }
    candidates.insert(candidate, at: index(of: candidate))
    values[candidate.key] = candidate.value
    return dropped
  }

  /// Notes that not every child in range was offered.
  mutating func markIncomplete() { isComplete = false }

  /// Removes a candidate, if the child is one.
  mutating func remove(_ key: TreeKey) {
    guard let value = values.removeValue(forKey: key) else { return }
    candidates.remove(at: index(of: Candidate(key: key, value: value)))
  }

  private func precedes(_ left: Candidate, _ right: Candidate) -> Bool {
    let values = left.value.compare(right.value)
    let order = values != 0 ? values : left.key.compare(right.key)
    return countsFromLast ? order > 0 : order < 0
  }

  /// Returns the index of the candidate, or its insertion index.
  private func index(of candidate: Candidate) -> Int {
    var low = 0
    var high = candidates.count
    while low < high {
      let middle = (low + high) / 2
      if precedes(candidates[middle], candidate) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
