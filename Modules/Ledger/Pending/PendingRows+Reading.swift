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

  /// Fills a page.
  ///
  /// - Returns: A range over several removed ones in which the store below has no rows, for
  ///   ``noteEmpty(_:)``; `nil` for none. Without that, each reading would look into all gaps
  ///   between them again.
  func fill(
    _ page: inout RowPage, from scan: borrowing Scan, over base: any StoreReader
  ) throws(StorageError) -> KeyRange? {
    if isEmpty || !touches(scan.range) {
      try base.fill(&page, from: scan)
      return nil
    }
    if scan.isReversed { return try fillDown(&page, scan.range, base) }
    return try fillUp(&page, scan.range, base)
  }

  /// Returns true when a row of `range` was put or may have been removed.
  private func touches(_ range: KeyRange) -> Bool {
    let next = firstRemoved(endingAfter: range.lower)
    if next < removed.count, removed[next].overlaps(range) { return true }
    let first = puts.lowerBound(range.lower.span)
    guard first != puts.end else { return false }
    let key = puts[first].key
    return range.contains(key.span)
  }

  private func fillUp(
    _ page: inout RowPage, _ range: KeyRange, _ base: any StoreReader
  ) throws(StorageError) -> KeyRange? {
    let base = base
    let snapshot = Snapshot(base)
    var next = puts.lowerBound(range.lower.span)
    let end = range.upper.map { puts.lowerBound($0.span) } ?? puts.end
    var hole = firstRemoved(endingAfter: range.lower)
    var empty = EmptyRun()
    var rest: [UInt8]? = range.lower
    while let lower = rest {
      let isHole =
        hole < removed.count && removed[hole].overlaps(KeyRange(from: lower, to: range.upper))
      let part = KeyRange(from: lower, to: isHole ? removed[hole].lower : range.upper)
      var cursor = snapshot.cursor(over: part, limit: page.freeRows)
      while part.isEmpty ? false : try cursor.next() {
        empty.end(at: lower)
        while next != end, puts.compare(next, with: cursor.key) < 0 {
          if !page.take(puts[next]) { return empty.range(of: range) }
          next = puts.position(after: next)
        }
        if next != end, puts.compare(next, with: cursor.key) == 0 { continue }
        if page.isFull { return empty.range(of: range) }
        page.append(key: cursor.key, value: cursor.value)
      }
      // A page is only filled behind a row of the store below, which has ended the run.
      if page.isFull { return empty.range(of: range) }
      if isHole { empty.pass() }
      rest = isHole ? removed[hole].upper : nil
      hole += 1
    }
    while next != end, page.take(puts[next]) { next = puts.position(after: next) }
    return empty.range(of: range)
  }

  private func fillDown(
    _ page: inout RowPage, _ range: KeyRange, _ base: any StoreReader
  ) throws(StorageError) -> KeyRange? {
    let base = base
    let snapshot = Snapshot(base)
    let start = puts.lowerBound(range.lower.span)
    var next = range.upper.map { puts.lowerBound($0.span) } ?? puts.end
    var hole = firstRemoved(from: range.upper) - 1
    var empty = EmptyRun(isDownward: true)
    var rest = KeyRange(from: range.lower, to: range.upper)
    while !rest.isEmpty {
      let isHole = hole >= 0 && removed[hole].overlaps(rest)
      // A range that nothing ends leaves nothing behind it.
      let lower = isHole ? removed[hole].upper : range.lower
      if let lower {
        let part = KeyRange(from: lower, to: rest.upper)
        var cursor = snapshot.cursor(over: part, isReversed: true, limit: page.freeRows)
        while part.isEmpty ? false : try cursor.next() {
          empty.end(at: rest.upper)
          while next != start {
            let previous = puts.position(before: next)
            if puts.compare(previous, with: cursor.key) <= 0 { break }
            if !page.take(puts[previous]) { return empty.range(of: range) }
            next = previous
          }
          if next != start, puts.compare(puts.position(before: next), with: cursor.key) == 0 {
            continue
          }
          if page.isFull { return empty.range(of: range) }
          page.append(key: cursor.key, value: cursor.value)
        }
        if page.isFull { return empty.range(of: range) }
      }
      guard isHole else { break }
      empty.pass()
      rest.upper = removed[hole].lower
      hole -= 1
    }
    while next != start {
      let previous = puts.position(before: next)
      if !page.take(puts[previous]) { break }
      next = previous
    }
    return empty.range(of: range)
  }
}

/// The part of a scan, from where it begins, in which the store below has no rows.
private struct EmptyRun {
  let isDownward: Bool
  /// The removed ranges in it.
  private var holes = 0
  private var isOver = false
  /// The bound at which it is over; `nil` for none.
  private var edge: [UInt8]?

  init(isDownward: Bool = false) { self.isDownward = isDownward }

  /// Notes that a removed range was reached, and no row before it.
  mutating func pass() { if !isOver { holes += 1 } }

  /// Ends the run at a bound behind which there is a row, or no more is known.
  mutating func end(at edge: [UInt8]?) {
    if isOver { return }
    (isOver, self.edge) = (true, edge)
  }

  /// Returns the run if it spans several removed ranges.
  func range(of scan: KeyRange) -> KeyRange? {
    if holes < 2 { return nil }
    if !isOver { return scan }
    guard isDownward else { return KeyRange(from: scan.lower, to: edge) }
    return edge.map { KeyRange(from: $0, to: scan.upper) }
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
