/// A walk over the rows of a range, in key order or against it.
///
/// It owns one ``RowPage`` and asks the backend for the next page *after the last key*, so no
/// cursor of the backend stays open and nothing is allocated per row.
public struct Cursor: ~Copyable, ~Escapable {
  private let reader: any StoreReader
  private var scan: Scan
  private var page: RowPage
  private var row = -1

  @_lifetime(borrow reader)
  init(_ reader: borrowing any StoreReader, _ scan: consuming Scan) {
    self.reader = copy reader
    self.page = RowPage(rowCapacity: scan.firstPageRows)
    self.scan = scan
  }

  /// Moves to the next row; `false` after the last one.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)`` when the next page holds a damaged record.
  public mutating func next() throws(StorageError) -> Bool {
    row += 1
    if row < page.count { return true }
    return try nextPage()
  }

  private mutating func nextPage() throws(StorageError) -> Bool {
    row = page.count
    guard scan.resume(after: &page) else { return false }
    try reader.fill(&page, from: scan)
    row = 0
    return page.count > 0
  }

  /// The current key; valid until the next call to ``next()``.
  public var key: Span<UInt8> {
    @_lifetime(borrow self) get { page.key(at: row) }
  }

  /// The current value; valid until the next call to ``next()``.
  public var value: Span<UInt8> {
    @_lifetime(borrow self) get { page.value(at: row) }
  }
}
