package import TernStorage

/// A snapshot with changes on top: what the store will hold once they are committed.
///
/// One batch of writes is decided against one of these, so that each write sees those before it.
/// It lives no longer than the snapshot it was made from.
package final class PendingReader: StoreReader {
  private let base: any StoreReader
  /// The changes so far.
  package private(set) var pending = PendingRows()

  /// A reader of `base` without changes yet.
  package init(over base: any StoreReader) {
    self.base = base
  }

  /// Adds changes that later reads see.
  package func apply(_ mutations: [Mutation]) {
    pending.apply(mutations)
  }

  package func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    switch pending.isEmpty ? nil : pending.change(of: key) {
    case .value(let value): try body(value.span)
    case .absent: nil
    case nil: try base.withValue(for: key, body)
    }
  }

  package func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    if pending.isEmpty { return try base.fill(&page, from: scan) }
    if scan.isReversed {
      try fillDown(&page, scan.range)
    } else {
      try fillUp(&page, scan.range)
    }
  }

  private func fillUp(_ page: inout RowPage, _ range: KeyRange) throws(StorageError) {
    let base = base
    let snapshot = Snapshot(base)
    var next = pending.lowerBound(range.lower.span)
    let end = range.upper.map { pending.lowerBound($0.span) } ?? pending.puts.count
    for part in pending.untouched(of: range) {
      var cursor = snapshot.cursor(over: part, limit: page.freeRows)
      while try cursor.next() {
        while next < end, pending.comparePut(next, with: cursor.key) < 0 {
          if !page.take(pending.puts[next]) { return }
          next += 1
        }
        if next < end, pending.comparePut(next, with: cursor.key) == 0 { continue }
        if page.isFull { return }
        page.append(key: cursor.key, value: cursor.value)
      }
      if page.isFull { return }
    }
    while next < end, page.take(pending.puts[next]) { next += 1 }
  }

  private func fillDown(_ page: inout RowPage, _ range: KeyRange) throws(StorageError) {
    let base = base
    let snapshot = Snapshot(base)
    let start = pending.lowerBound(range.lower.span)
    var next = range.upper.map { pending.lowerBound($0.span) } ?? pending.puts.count
    for part in pending.untouched(of: range).reversed() {
      var cursor = snapshot.cursor(over: part, isReversed: true, limit: page.freeRows)
      while try cursor.next() {
        while next > start, pending.comparePut(next - 1, with: cursor.key) > 0 {
          if !page.take(pending.puts[next - 1]) { return }
          next -= 1
        }
        if next > start, pending.comparePut(next - 1, with: cursor.key) == 0 { continue }
        if page.isFull { return }
        page.append(key: cursor.key, value: cursor.value)
      }
      if page.isFull { return }
    }
    while next > start, page.take(pending.puts[next - 1]) { next -= 1 }
  }
}

extension RowPage {
  /// Appends a row unless the page is full.
  fileprivate mutating func take(_ row: Row) -> Bool {
    if isFull { return false }
    append(key: row.key.span, value: row.value.span)
    return true
  }
}
