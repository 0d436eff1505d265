import CSQLite
import CSQLitePages
import TernStorage

/// An examination of the pages of a database; the caller holds the write lock, so that no
/// checkpoint writes meanwhile.
struct SQLiteInspection {
  private let connection: SQLiteConnection
  private let pageBytes: Int
  /// True when pages carry checksums; without them there is nothing to examine.
  private let isChecked: Bool

  init(_ connection: SQLiteConnection) throws(StorageError) {
    self.connection = connection
    pageBytes = try connection.integer("PRAGMA page_size")
    isChecked = connection.hasLargeTable
  }

  /// Examines pages from number `first` on.
  ///
  /// - Parameters:
  ///   - first: The number of the first page, from 1.
  ///   - bytes: About as much as is read by this call; at least one page.
  /// - Returns: Whether there are more.
  func examine(
    from first: Int, bytes: Int, _ inspection: inout StoreInspection
  ) throws(StorageError) -> Bool {
    guard isChecked else { return false }
    let count = max(1, bytes / pageBytes)
    for number in first..<(first + count) {
      let verdict = unsafe tern_pages_examine(
        connection.handle, UInt32(number), UInt32(pageBytes))
      switch Int(verdict) {
      case TERN_PAGE_WELL: break
      case TERN_PAGE_CORRECTED:
        inspection.report(.page(number), "one bit was wrong and is set right")
      case TERN_PAGE_CORRUPT:
        inspection.report(.page(number), "it does not match its checksum")
      case TERN_PAGE_UNREADABLE:
        inspection.report(.page(number), "it cannot be read")
      default: return false
      }
      inspection.bytes += pageBytes
    }
    inspection.stage = .files(next: first + count)
    return true
  }

  /// Lets SQLite examine how pages hang together.
  ///
  /// Reads the whole database, and reports at most 100 findings. Corruption that stops the check is
  /// itself a finding.
  func examineStructure(_ inspection: inout StoreInspection) throws(StorageError) {
    do throws(StorageError) {
      for line in try connection.texts("PRAGMA integrity_check(100)") where line != "ok" {
        inspection.report(.structure, line)
      }
      guard connection.hasLargeTable else { return }
      let orphans = try connection.integer(
        """
        SELECT count(*) FROM large WHERE id NOT IN
        (SELECT record FROM rows WHERE typeof(record) = 'integer')
        """)
      if orphans > 0 {
        inspection.report(.structure, "\(orphans) large records without a row")
      }
    } catch {
      guard error.isCorruption else { throw error }
      inspection.report(.structure, error.description)
    }
  }
}
