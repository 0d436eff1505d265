import Synchronization
import TernLedger

/// The databases that belong to this node's shard, as its directory tells. May be asked from any
/// thread.
package final class DatabasePlaces: Sendable {
  private let known = Mutex<(any ShardDirectory)?>(nil)

  /// All databases belong here, until a directory says otherwise.
  package init() {}

  /// Takes the word of a directory.
  func use(_ directory: any ShardDirectory) { known.withLock { $0 = directory } }

  /// Returns true when the database of that name belongs to this node's shard.
  package func holds(_ name: String) -> Bool {
    guard let directory = known.withLock({ $0 }) else { return true }
    return directory.table.shard(of: name) == directory.own
  }
}
