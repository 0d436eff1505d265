import TernStorage

/// Reading a store as if the changes were made already.
extension PendingRows {
  func withValue<R>(
    for key: Span<UInt8>, over base: any StoreReader,
    _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    switch isEmpty ? nil : change(of: key) {
    case .value(let value): try body(value.span)
    case .absent: nil
    case nil: try base.withValue(for: key, body)
    }
  }

  func fill(
    _ page: inout RowPage, from scan: borrowing Scan, over base: any StoreReader
  ) throws(StorageError) {
    if isEmpty || !touches(scan.range) { return try base.fill(&page, from: scan) }
    if scan.isReversed {
      try fillDown(&page, scan.range, base)
    } else {
      try fillUp(&page, scan.range, base)
    }
  }

  /// Returns true when a row of `range` was put or may have been removed.
  private func touches(_ range: KeyRange) -> Bool {
    if !removed.isEmpty, removed.contains(where: { $0.overlaps(range) }) { return true }
    let first = lowerBound(range.lower.span)
    guard first < puts.count else { return false }
    let key = puts[first].key
    return range.contains(key.span)
  }

  private func fillUp(
    _ page: inout RowPage, _ range: KeyRange, _ base: any StoreReader
  ) throws(StorageError) {
    let base = base
    let snapshot = Snapshot(base)
    var next = lowerBound(range.lower.span)
    let end = range.upper.map { lowerBound($0.span) } ?? puts.count
    for part in untouched(of: range) {
      var cursor = snapshot.cursor(over: part, limit: page.freeRows)
      while try cursor.next() {
        while next < end, comparePut(next, with: cursor.key) < 0 {
          if !page.take(puts[next]) { return }
          next += 1
        }
        if next < end, comparePut(next, with: cursor.key) == 0 { continue }
        if page.isFull { return }
        page.append(key: cursor.key, value: cursor.value)
      }
      if page.isFull { return }
    }
    while next < end, page.take(puts[next]) { next += 1 }
  }

  private func fillDown(
    _ page: inout RowPage, _ range: KeyRange, _ base: any StoreReader
  ) throws(StorageError) {
    let base = base
    let snapshot = Snapshot(base)
    let start = lowerBound(range.lower.span)
    var next = range.upper.map { lowerBound($0.span) } ?? puts.count
    for part in untouched(of: range).reversed() {
      var cursor = snapshot.cursor(over: part, isReversed: true, limit: page.freeRows)
      while try cursor.next() {
        while next > start, comparePut(next - 1, with: cursor.key) > 0 {
          if !page.take(puts[next - 1]) { return }
          next -= 1
        }
        if next > start, comparePut(next - 1, with: cursor.key) == 0 { continue }
        if page.isFull { return }
        page.append(key: cursor.key, value: cursor.value)
      }
      if page.isFull { return }
    }
    while next > start, page.take(puts[next - 1]) { next -= 1 }
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
