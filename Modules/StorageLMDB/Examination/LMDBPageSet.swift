import TernStorage

/// The pages of a file that were met: in use or free, and none of them twice.
struct LMDBPageSet {
  private var words: [UInt64]
  private let lastPage: Int
  /// The pages the file has.
  private let filePages: Int
  private(set) var count = 0

  /// The most pages behind the end of a file: taken and given back by one transaction, and never
  /// written.
  private static let unwrittenLimit = 1 << 24

  init(lastPage: Int, filePages: Int) throws(StorageError) {
    guard lastPage < filePages + Self.unwrittenLimit else {
      throw .corruptStore(
        reason: "the file has \(filePages) pages, and its last page is said to be \(lastPage)")
    }
    self.lastPage = lastPage
    self.filePages = filePages
    words = [UInt64](repeating: 0, count: (lastPage >> 6) + 1)
  }

  /// Marks pages in use.
  mutating func use(_ first: Int, _ number: Int = 1) throws(StorageError) {
    guard first >= 2, first <= lastPage, number <= lastPage - first + 1 else {
      throw Self.outside(first)
    }
    guard first + number <= filePages else {
      throw .corruptStore(
        reason: "the file has \(filePages) pages, and a page in use lies behind its end")
    }
    for page in first..<(first + number) { try mark(page) }
  }

  /// Marks a free page, which the file need not have.
  mutating func free(_ page: Int) throws(StorageError) {
    guard page >= 2, page <= lastPage else { throw Self.outside(page) }
    try mark(page)
  }

  @inline(__always)
  private mutating func mark(_ page: Int) throws(StorageError) {
    let bit = UInt64(1) << UInt64(page & 63)
    guard words[page >> 6] & bit == 0 else {
      throw .corruptStore(reason: "page \(page) is used twice, or used and free")
    }
    words[page >> 6] |= bit
    count += 1
  }

  private static func outside(_ page: Int) -> StorageError {
    .corruptStore(reason: "a page refers to page \(page), which there is not")
  }
}
