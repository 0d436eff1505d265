import TernCore
import TernLedger

/// The latest writes to a tree, kept while reads of it go on beside the server's executor: a read
/// is out of date when a write since its snapshot overlaps its path.
struct RecentWrites {
  /// The most paths that are kept.
  static let kept = 2_048
  /// A write to more paths is kept as one to the node that holds them all.
  static let pathsPerWrite = 16

  /// In order from `next` on, once as many are kept as may be.
  private var writes: [(path: TreePath, version: Version)] = []
  private var next = 0
  /// The version of the latest write that is no longer kept.
  private var lostVersion: Version = 0
  /// The reads that go on.
  private(set) var readers = 0

  /// The number of paths kept.
  var count: Int { writes.count }

  /// Keeps what is written from now on.
  mutating func beginReading() { readers += 1 }

  /// Forgets all writes with the last read.
  mutating func endReading() {
    readers -= 1
    if readers == 0 { self = RecentWrites() }
  }

  /// Records a write that was given a version.
  mutating func record(_ write: TreeWrite, at version: Version) {
    if readers == 0 { return }
    let entries = write.assignments
    if entries.count > Self.pathsPerWrite { return record(write.path, at: version) }
    for entry in entries { record(entry.path, at: version) }
  }

  private mutating func record(_ path: TreePath, at version: Version) {
    if writes.count < Self.kept { return writes.append((path, version)) }
    lostVersion = writes[next].version
    writes[next] = (path, version)
    next = (next + 1) % Self.kept
  }

  /// Returns true when the node at `path` may have changed since a version.
  func mayHaveChanged(_ path: TreePath, since version: Version) -> Bool {
    if lostVersion > version { return true }
    return writes.contains { write in
      write.version > version && (write.path.contains(path) || path.contains(write.path))
    }
  }
}
