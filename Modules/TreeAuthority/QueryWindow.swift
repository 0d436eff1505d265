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
  private(set) var candidates: CandidateList
  private var values: [TreeKey: TreeSortValue] = [:]
  /// `true` if every child in range is a candidate.
  private(set) var isComplete = true

  /// An empty window, to be loaded.
  package init(_ query: TreeQuery) {
    self.query = query
    range = TreeRange(query)
    limit = query.limit?.count ?? .max
    capacity = query.limit.map { $0.count + min(max($0.count, 16), 1_024) } ?? .max
    candidates = CandidateList(countsFromLast: query.limit?.side == .last)
  }

  /// The number of children it keeps the names of, those beyond the limit included.
  package var count: Int { candidates.count }

  /// The number of children it shows.
  package var shownCount: Int { min(candidates.count, limit) }

  /// The children shown, best first. Building the list takes linear time.
  var shown: [Candidate] { candidates.elements(in: 0..<shownCount) }

  /// Returns the names of the last `count` children shown, of those nearest to the limit.
  func lastShown(_ count: Int) -> [TreeKey] {
    candidates.elements(in: max(0, shownCount - count)..<shownCount).map(\.key)
  }

  /// `true` if there are too few candidates while more children in range may exist.
  var needsLoading: Bool { !isComplete && candidates.count < limit }

  /// `true` if the window takes another candidate only in place of a worse one.
  var isFull: Bool { candidates.count == capacity }

  /// Returns the sort value of a candidate; `nil` when the child is not a candidate.
  func value(of key: TreeKey) -> TreeSortValue? { values[key] }

  /// Returns `true` if the window shows the child.
  func shows(_ key: TreeKey) -> Bool {
    guard let value = values[key] else { return false }
    return candidates.count <= limit
      || candidates.rank(of: Candidate(key: key, value: value)) < limit
  }

  /// Forgets everything; the window is complete as long as nothing is turned away.
  mutating func reset() {
    candidates.removeAll()
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
      guard let last = candidates.last, candidates.precedes(candidate, last) else {
        isComplete = false
        return candidate
      }
    }
    let dropped = isFull ? candidates.removeLast() : nil
    if let dropped {
      values[dropped.key] = nil
      isComplete = false
    }
    candidates.insert(candidate)
    values[candidate.key] = candidate.value
    return dropped
  }

  /// Notes that not every child in range was offered.
  mutating func markIncomplete() { isComplete = false }

  /// Removes a candidate, if the child is one.
  mutating func remove(_ key: TreeKey) {
    guard let value = values.removeValue(forKey: key) else { return }
    candidates.remove(Candidate(key: key, value: value))
  }
}
