public import TernCore

extension DocumentQuery {
  /// The documents that belong to the result, in its order.
  ///
  /// - Parameter documents: All documents there are, in any order.
  /// - Complexity: O(*n* log *m*) comparisons for a limit of *m*; memory O(*m*).
  public func run(over documents: [Document]) -> [Document] {
    let matcher = DocumentMatcher(self)
    var selection = DocumentSelection(self)
    for document in documents where matcher.matches(document) { selection.insert(document) }
    return selection.documents
  }
}

/// The documents a query keeps of those it is shown, in order; never more than its limit.
///
/// The offset is kept on top of the limit and left out at the end. A limit must be at least 1.
package struct DocumentSelection {
  private let ordering: DocumentOrdering
  private let capacity: Int?
  private let offset: Int
  /// `-1` when the last documents are wanted: what comes first is then the worst.
  private let direction: Int
  /// Without a limit all documents in any order; with one a heap, the worst first.
  private var kept: [Document] = []
  /// The position of the last document once the heap is full: nothing beyond it can enter.
  private var edge: PackedCursor?

  /// Prepares an empty selection.
  package init(_ query: DocumentQuery) {
    ordering = DocumentOrdering(query.normalizedOrders)
    offset = query.offset
    direction = query.limit?.side == .last ? -1 : 1
    capacity = query.limit.map { $0.count + query.offset }
  }

  /// Shows a document that matches.
  ///
  /// Rows may come in any order, and each at most once.
  package mutating func insert(_ document: Document) {
    guard let capacity else { return kept.append(document) }
    if capacity == 0 { return }
    if kept.count < capacity {
      kept.append(document)
      siftUp(from: kept.count - 1)
    } else if admits(document) {
      kept[0] = document
      siftDown()
    } else {
      return
    }
    if kept.count == capacity { edge = ordering.cursor(at: kept[0]) }
  }

  /// Returns true when a document, given as key and packed fields, could still enter.
  ///
  /// Spares making a document of a row that the limit keeps out.
  package func admits(key: Span<UInt8>, fields: Span<UInt8>) -> Bool {
    guard let edge else { return true }
    return direction * ordering.compare(edge, key: key, fields: fields) > 0
  }

  /// The kept documents in the query's order, without those that an offset leaves out.
  package var documents: [Document] {
    let sorted = kept.sorted { ordering.compare($0, $1) < 0 }
    if offset == 0 { return sorted }
    return direction > 0 ? Array(sorted.dropFirst(offset)) : Array(sorted.dropLast(offset))
  }

  private func admits(_ document: Document) -> Bool {
    let fields = document.fields ?? .empty
    return document.key.text.withSpan { admits(key: $0, fields: fields.bytes.span) }
  }

  private func precedes(_ left: Document, _ right: Document) -> Bool {
    direction * ordering.compare(left, right) < 0
  }

  private mutating func siftUp(from index: Int) {
    var index = index
    while index > 0, precedes(kept[(index - 1) / 2], kept[index]) {
      kept.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func siftDown() {
    var index = 0
    while true {
      var worst = index
      for child in [2 * index + 1, 2 * index + 2] where child < kept.count {
        if precedes(kept[worst], kept[child]) { worst = child }
      }
      if worst == index { return }
      kept.swapAt(worst, index)
      index = worst
    }
  }
}
