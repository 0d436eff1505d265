import CSQLitePages
import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Space behind the end of the database for the pages that are still in the log.
///
/// A log that cannot be moved into the database is never cut off, and removals would only make it
/// longer. So a commit takes the space of its new pages in both files. It belongs to the file
/// without making it longer, and what is left of it is given back when the log was moved.
/// Elsewhere than on Linux nothing is taken, and a full disk is met when the log is moved.
final class SQLiteGrowth {
  /// The most bytes taken beyond those that a commit needs, so that most commits take none.
  private static let aheadBytes = 1 << 20

  private let descriptor: Int32
  private let pageBytes: Int
  /// The bytes from the start of the file that have their space; `nil` until the file is looked at.
  private var taken: Int?
  private var isSupported = true

  /// `nil` when the database cannot be opened a second time.
  init?(_ directory: StoreDirectory, pageBytes: Int) {
    descriptor = unsafe open(directory.file(SQLiteFormat.file), O_RDWR | O_CLOEXEC)
    self.pageBytes = pageBytes
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// Takes space for a database of so many pages; `false` when the disk is full.
  func take(pages: Int) -> Bool {
    let end = pages * pageBytes
    let from = taken ?? length
    taken = from
    guard isSupported, end > from else { return true }
    for wanted in [end + Self.aheadBytes, end] {
      switch tern_take_space(descriptor, Int64(from), Int64(wanted - from)) {
      case 0:
        taken = wanted
        return true
      case ENOSPC, EDQUOT: continue
      default:
        // The file system does not know how.
        isSupported = false
        return true
      }
    }
    return false
  }

  /// The log was moved: space beyond the end of the file is gone.
  func forget() { taken = nil }

  private var length: Int {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }
}
