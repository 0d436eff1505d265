package import TernStorage

/// Rows in key order, each key once.
///
/// They are cut into short chunks: a row that comes between others moves no more than one chunk,
/// however many rows there are. Rows that come in order fill their chunks.
package struct SortedRows: Sendable {
  /// A chunk with more rows is cut in two; inserting moves at most 8 KiB.
  static let chunkLimit = 512

  /// The place of a row, or of the end.
  struct Position: Equatable {
    fileprivate var chunk: Int
    /// Within the chunk, and 0 at the end.
    fileprivate var index: Int
  }

  /// Never empty ones.
  private var chunks: [[Row]] = []
  /// The number of rows.
  package private(set) var count = 0

  /// True when there are no rows.
  package var isEmpty: Bool { count == 0 }

  /// The row with the greatest key.
  var last: Row? { chunks.last?.last }

  /// The position behind all rows.
  var end: Position { Position(chunk: chunks.count, index: 0) }

  /// The row at a position that is not the end.
  subscript(position: Position) -> Row { chunks[position.chunk][position.index] }

  /// Returns the position behind another one that is not the end.
  func position(after position: Position) -> Position {
    let isLast = position.index + 1 == chunks[position.chunk].count
    return isLast
      ? Position(chunk: position.chunk + 1, index: 0)
      : Position(chunk: position.chunk, index: position.index + 1)
  }

  /// Returns the position before another one; there has to be a row.
  func position(before position: Position) -> Position {
    if position.index > 0 { return Position(chunk: position.chunk, index: position.index - 1) }
    return Position(chunk: position.chunk - 1, index: chunks[position.chunk - 1].count - 1)
  }

  /// Negative, zero or positive as the row at a position lies before, at or after `key`.
  func compare(_ position: Position, with key: Span<UInt8>) -> Int {
    let own = chunks[position.chunk][position.index].key
    return compareBytes(own.span, key)
  }

  /// Returns the position of the first row at or after `key`.
  func lowerBound(_ key: Span<UInt8>) -> Position {
    var (low, high) = (0, chunks.count)
    while low < high {
      let middle = (low + high) / 2
      let last = chunks[middle][chunks[middle].count - 1].key
      if compareBytes(last.span, key) < 0 { low = middle + 1 } else { high = middle }
    }
    let chunk = low
    guard chunk < chunks.count else { return end }
    (low, high) = (0, chunks[chunk].count)
    while low < high {
      let middle = (low + high) / 2
      let own = chunks[chunk][middle].key
      if compareBytes(own.span, key) < 0 { low = middle + 1 } else { high = middle }
    }
    return Position(chunk: chunk, index: low)
  }

  /// Returns the value of `key`; `nil` when there is no such row.
  func value(of key: Span<UInt8>) -> [UInt8]? {
    let position = lowerBound(key)
    guard position != end, compare(position, with: key) == 0 else { return nil }
    return self[position].value
  }

  /// Adds a row, in the place of one with the same key.
  mutating func put(_ row: Row) {
    if let last, !bytesPrecede(last.key, row.key) { return insert(row) }
    count += 1
    if let room = chunks.last?.count, room < Self.chunkLimit {
      chunks[chunks.count - 1].append(row)
    } else {
      chunks.append([row])
    }
  }

  /// Adds a row that does not come behind all others.
  private mutating func insert(_ row: Row) {
    let position = lowerBound(row.key.span)
    let chunk = position.chunk
    if compare(position, with: row.key.span) == 0 {
      chunks[chunk][position.index].value = row.value
      return
    }
    count += 1
    chunks[chunk].insert(row, at: position.index)
    guard chunks[chunk].count > Self.chunkLimit else { return }
    let rest = Array(chunks[chunk][(Self.chunkLimit / 2)...])
    chunks[chunk].removeSubrange((Self.chunkLimit / 2)...)
    chunks.insert(rest, at: chunk + 1)
  }

  /// Removes the rows of a range.
  mutating func remove(_ range: KeyRange) {
    let first = lowerBound(range.lower.span)
    let last = range.upper.map { lowerBound($0.span) } ?? end
    if first == last { return }
    if first.chunk == last.chunk {
      chunks[first.chunk].removeSubrange(first.index..<last.index)
      count -= last.index - first.index
      // Rows from `last` on are left.
      return
    }
    if last.index > 0 {
      chunks[last.chunk].removeFirst(last.index)
      count -= last.index
    }
    let kept = chunks[first.chunk].prefix(first.index)
    let whole = (first.index > 0 ? first.chunk + 1 : first.chunk)..<last.chunk
    count -= chunks[first.chunk].count - kept.count
    for chunk in chunks[(first.chunk + 1)..<last.chunk] { count -= chunk.count }
    if first.index > 0 { chunks[first.chunk] = Array(kept) }
    chunks.removeSubrange(whole)
  }
}

extension SortedRows: Sequence {
  /// Iterates over the rows in key order.
  package func makeIterator() -> FlattenSequence<[[Row]]>.Iterator {
    chunks.joined().makeIterator()
  }
}
