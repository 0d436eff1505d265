/// The outer state of a file: enough to see that it was replaced or changed.
struct FileMark: Equatable, Sendable {
  let bytes: Int
  /// The time of the last write, in seconds since the epoch of its file system.
  let written: Double
  /// The number of the file under the name; editors put a new one in place of the old.
  let number: UInt64
}

extension FileMark {
  /// Reads the state of the file at a path; `nil` when there is none.
  init?(of path: String) {
    guard let status = FileStatus(of: path, followsLinks: false) else { return nil }
    self.init(bytes: status.bytes, written: status.written, number: status.number)
  }
}
