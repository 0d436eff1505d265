import TernCore
import TernQuery

/// The candidates of a window in its order, the best first.
///
/// The list is cut into short chunks: inserting and removing move no more than one chunk, however
/// many candidates there are. A candidate's rank is found by counting chunks.
struct CandidateList: Sendable {
  /// A chunk with more candidates is cut in two. It moves at most 24 KiB for an insertion.
  static let chunkLimit = 512

  /// `true` if the order is against the query's order: the limit counts from the end.
  private let countsFromLast: Bool
  /// Never empty ones.
  private var chunks: [[QueryWindow.Candidate]] = []
  private(set) var count = 0

  init(countsFromLast: Bool) { self.countsFromLast = countsFromLast }

  /// The candidate at the end of the order.
  var last: QueryWindow.Candidate? { chunks.last?.last }

  /// The candidate of a rank below ``count``; the best has rank 0.
  subscript(rank: Int) -> QueryWindow.Candidate {
    var left = rank
    for chunk in chunks {
      if left < chunk.count { return chunk[left] }
      left -= chunk.count
    }
    preconditionFailure("a rank beyond the end of the list")
  }

  /// Returns `true` if `left` comes before `right`.
  func precedes(_ left: QueryWindow.Candidate, _ right: QueryWindow.Candidate) -> Bool {
    let values = left.value.compare(right.value)
    let order = values != 0 ? values : left.key.compare(right.key)
    return countsFromLast ? order > 0 : order < 0
  }

  /// Returns the number of candidates before `candidate`, which need not be in the list.
  func rank(of candidate: QueryWindow.Candidate) -> Int {
    let (chunk, index) = position(of: candidate)
    return chunks[..<chunk].reduce(index) { $0 + $1.count }
  }

  /// Returns the candidates of the ranks in `range`, which may reach beyond the end.
  func elements(in range: Range<Int>) -> [QueryWindow.Candidate] {
    var result: [QueryWindow.Candidate] = []
    result.reserveCapacity(range.clamped(to: 0..<count).count)
    var start = 0
    for chunk in chunks where start < range.upperBound {
      let ranks = range.clamped(to: start..<(start + chunk.count))
      result += chunk[(ranks.lowerBound - start)..<(ranks.upperBound - start)]
      start += chunk.count
    }
    return result
  }

  /// Inserts a candidate that is not in the list.
  mutating func insert(_ candidate: QueryWindow.Candidate) {
    count += 1
    if chunks.isEmpty { return chunks.append([candidate]) }
    var (chunk, index) = position(of: candidate)
    // Behind the end of all chunks, the last one grows.
    if chunk == chunks.count { (chunk, index) = (chunk - 1, chunks[chunk - 1].count) }
    chunks[chunk].insert(candidate, at: index)
    guard chunks[chunk].count > Self.chunkLimit else { return }
    // Children that come in order fill their chunks.
    let isAtEnd = chunk == chunks.count - 1 && index == chunks[chunk].count - 1
    let kept = isAtEnd ? Self.chunkLimit : Self.chunkLimit / 2
    let rest = Array(chunks[chunk][kept...])
    chunks[chunk].removeSubrange(kept...)
    chunks.insert(rest, at: chunk + 1)
  }

  /// Removes a candidate that is in the list.
  mutating func remove(_ candidate: QueryWindow.Candidate) {
    let (chunk, index) = position(of: candidate)
    chunks[chunk].remove(at: index)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    count -= 1
  }

  /// Removes the candidate at the end, which there has to be.
  mutating func removeLast() -> QueryWindow.Candidate {
    let last = chunks[chunks.count - 1].removeLast()
    if chunks[chunks.count - 1].isEmpty { chunks.removeLast() }
    count -= 1
    return last
  }

  mutating func removeAll() {
    chunks.removeAll(keepingCapacity: true)
    count = 0
  }

  /// Returns the position of a candidate, or its insertion point.
  private func position(
    of candidate: QueryWindow.Candidate
  ) -> (chunk: Int, index: Int) {
    let chunk = Self.firstIndex(below: chunks.count) { index in
      chunks[index].last.map { !precedes($0, candidate) } ?? true
    }
    guard chunk < chunks.count else { return (chunk, 0) }
    let index = Self.firstIndex(below: chunks[chunk].count) { index in
      !precedes(chunks[chunk][index], candidate)
    }
    return (chunk, index)
  }

  /// Returns the first index below `end` for which `isReached` is true, else `end`; once true, it
  /// stays true.
  private static func firstIndex(below end: Int, _ isReached: (Int) -> Bool) -> Int {
    var (low, high) = (0, end)
    while low < high {
      let middle = (low + high) / 2
      if isReached(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
