import TernCore
import TernStorage

/// A walk over the rows of an index, forwards or backwards, that can jump ahead.
///
/// Pages double as look-ahead: rows are read many at a time, and a jump within a page costs no
/// read. The rows are copies, so a walk holds no cursor of the store open.
final class EntryWalk {
  private let reading: DocumentReading
  let isReversed: Bool
  /// The ranges still to be walked, the current one first.
  private var ranges: ArraySlice<KeyRange>
  /// The rows that were read last.
  private var page: [Row] = []
  /// The index in the page of the row that the walk stands at.
  private var next = 0
  /// The rows of the next page: few at first, because many walks end soon.
  private var pageRows = EntryWalk.firstPageRows
  /// True when no row of the current range lies behind the page.
  private var isLastPage = false

  private static let firstPageRows = 8
  private static let pageRowsLimit = 256
  /// A page takes no further row behind so many bytes.
  ///
  /// The row that exceeds it is the last of the page, so a page has at least one row.
  private static let pageBytes = 1 << 20

  /// - Parameter ranges: In the order they are walked.
  init(_ reading: DocumentReading, _ ranges: [KeyRange], isReversed: Bool) {
    self.reading = reading
    self.ranges = ranges.filter { !$0.isEmpty }[...]
    self.isReversed = isReversed
  }

  /// The row the walk stands at; `nil` at its end.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)`` for a damaged row within the page.
  func current() throws(StorageError) -> Row? {
    while next == page.count {
      if isLastPage { ranges = ranges.dropFirst() }
      guard let range = ranges.first else { return nil }
      (page, isLastPage) = try reading.page(
        range, isReversed: isReversed, limit: pageRows, limitBytes: EntryWalk.pageBytes)
      reading.cost.entriesRead += page.count
      next = 0
      pageRows = min(pageRows * 4, EntryWalk.pageRowsLimit)
      // What was read is taken off the range, so the next page begins behind it.
      if let last = page.last { shrink(past: last.key) }
    }
    return page[next]
  }

  /// Moves to the next row.
  func advance() { next += 1 }

  /// Moves on to the first row at or behind a key, in the direction of the walk.
  ///
  /// A key that the walk has passed moves nothing. No row is read until ``current()``.
  func seek(_ key: [UInt8]) {
    while next < page.count, isBefore(page[next].key, key) { next += 1 }
    // Rows in the page are behind the key, or nothing is known of what is.
    if next < page.count { return }
    while let range = ranges.first {
      if isReversed {
        guard isBefore(range.upper ?? key, key) || range.upper == nil else { return }
        ranges[ranges.startIndex].upper = key + [0]
      } else {
        guard isBefore(range.lower, key) else { return }
        ranges[ranges.startIndex].lower = key
      }
      // Walks that jump often look at few rows after each jump.
      pageRows = EntryWalk.firstPageRows
      if !ranges[ranges.startIndex].isEmpty { return }
      ranges = ranges.dropFirst()
      isLastPage = false
    }
  }

  /// Compares in the direction of the walk.
  private func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    isReversed ? bytesPrecede(right, left) : bytesPrecede(left, right)
  }

  /// Takes the rows up to a key off the current range.
  private func shrink(past key: [UInt8]) {
    if isReversed {
      ranges[ranges.startIndex].upper = key
    } else {
      ranges[ranges.startIndex].lower = key + [0]
    }
  }
}
