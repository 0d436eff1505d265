package import TernCore
package import TernQuery

/// Documents in the order of a query, each with its position.
///
/// They lie in runs of at most ``runCapacity``. A copy shares the runs it does not change, so that
/// handing out a result and changing one document afterwards copies one run, not the result.
package struct SortedDocuments: Sendable {
  /// The most documents of one run.
  static let runCapacity = 128

  private let ordering: DocumentOrdering
  /// None of them empty.
  private var runs: [[Document]] = []
  /// The number of documents.
  package private(set) var count = 0

  /// Makes an empty list.
  package init(_ ordering: DocumentOrdering) { self.ordering = ordering }

  /// Takes in documents in any order, each key once.
  package init(_ ordering: DocumentOrdering, sorting documents: some Sequence<Document>) {
    self.ordering = ordering
    var sorted = Array(documents)
    for index in sorted.indices.dropFirst()
    where ordering.compare(sorted[index - 1], sorted[index]) > 0 {
      sorted.sort { ordering.compare($0, $1) < 0 }
      break
    }
    count = sorted.count
    let size = SortedDocuments.runCapacity / 2
    runs = stride(from: 0, to: sorted.count, by: size).map { start in
      Array(sorted[start..<Swift.min(start + size, sorted.count)])
    }
  }

  /// The first document in order.
  package var first: Document? { runs.first?.first }

  /// The last document in order.
  package var last: Document? { runs.last?.last }

  /// Negative, zero or positive as one document comes before, with or after another.
  package func compare(_ left: Document, _ right: Document) -> Int {
    ordering.compare(left, right)
  }

  /// Puts a document in its place; none of its key may be there.
  ///
  /// - Returns: Its position.
  /// - Complexity: O(log *n*) comparisons, and a step for each run.
  @discardableResult
  package mutating func insert(_ document: Document) -> Int {
    count += 1
    guard !runs.isEmpty else {
      runs.append([document])
      return 0
    }
    let run = Swift.min(runIndex(of: document), runs.count - 1)
    let offset = offset(of: document, in: runs[run])
    runs[run].insert(document, at: offset)
    let position = start(of: run) + offset
    if runs[run].count > SortedDocuments.runCapacity { split(run) }
    return position
  }

  /// Takes a document out, given as it was put in.
  ///
  /// - Returns: Where it was; `nil` when it is not there.
  @discardableResult
  package mutating func remove(_ document: Document) -> Int? {
    guard let place = place(of: document) else { return nil }
    runs[place.run].remove(at: place.offset)
    count -= 1
    let position = start(of: place.run) + place.offset
    if runs[place.run].isEmpty { runs.remove(at: place.run) }
    return position
  }

  /// Returns the position of a document, given as it was inserted.
  package func position(of document: Document) -> Int? {
    place(of: document).map { start(of: $0.run) + $0.offset }
  }

  private func place(of document: Document) -> (run: Int, offset: Int)? {
    let run = runIndex(of: document)
    guard run < runs.count else { return nil }
    let offset = offset(of: document, in: runs[run])
    guard offset < runs[run].count, runs[run][offset].key == document.key else { return nil }
    return (run, offset)
  }

  /// The first run whose last document does not come before this one; their number without one.
  private func runIndex(of document: Document) -> Int {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if ordering.compare(runs[middle][runs[middle].count - 1], document) < 0 {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  /// The first document of a run that does not come before this one.
  private func offset(of document: Document, in run: [Document]) -> Int {
    var (low, high) = (0, run.count)
    while low < high {
      let middle = (low + high) / 2
      if ordering.compare(run[middle], document) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func start(of run: Int) -> Int {
    var position = 0
    for index in 0..<run { position += runs[index].count }
    return position
  }

  private mutating func split(_ run: Int) {
    let middle = runs[run].count / 2
    let tail = Array(runs[run][middle...])
    runs[run].removeSubrange(middle...)
    runs.insert(tail, at: run + 1)
  }
}

extension SortedDocuments: RandomAccessCollection {
  package var startIndex: Int { 0 }

  package var endIndex: Int { count }

  package subscript(position: Int) -> Document {
    var offset = position
    for run in runs {
      if offset < run.count { return run[offset] }
      offset -= run.count
    }
    preconditionFailure("position \(position) is outside 0..<\(count)")
  }

  package func makeIterator() -> AnyIterator<Document> {
    var run = 0
    var offset = 0
    let runs = runs
    return AnyIterator {
      guard run < runs.count else { return nil }
      let document = runs[run][offset]
      offset += 1
      if offset == runs[run].count { (run, offset) = (run + 1, 0) }
      return document
    }
  }
}
