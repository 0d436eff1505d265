import Foundation

/// What a file looks like from outside: enough to see that it has become another one.
struct FileMark: Equatable, Sendable {
  let bytes: Int
  /// When it was written last, in seconds since the epoch of its file system.
  let written: Double
  /// Which file stands under the name; editors put a new one in place of the old.
  let number: UInt64
}

extension FileMark {
  /// What the file at a path looks like; `nil` when there is none.
  init?(of path: String) {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let bytes = attributes[.size] as? Int, let written = attributes[.modificationDate] as? Date
    else { return nil }
    let number = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    self.init(bytes: bytes, written: written.timeIntervalSinceReferenceDate, number: number)
  }
}
