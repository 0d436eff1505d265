import TernCore
import TernQuery

/// Estimates of the memory that requests about documents take.
enum DocumentWeight {
  /// The bytes that a message takes while it is read and carried out, for each byte of it.
  private static let messageFactor = 24
  /// Shorter messages are not weighed: one at a time is read.
  private static let freeBytes = 16 << 10
  /// The memory of a target with the tables that name it.
  private static let targetBytes = 1_024
  /// The memory of one document in the window of a query with a limit or an offset.
  private static let windowBytes = 512
  /// The memory of one document that a target's permission rests on, in both directions.
  private static let dependencyBytes = 256

  /// The bytes of memory that reading a message takes at the most, without reading it.
  static func bytes(ofMessage count: Int) -> Int { count <= freeBytes ? 0 : count * messageFactor }

  /// The bytes that a target takes for as long as it is watched.
  static func bytes(of target: WatchTarget) -> Int {
    switch target.subject {
    case .query(let query): targetBytes + 4 * query.id.utf8.count
    case .documents(let keys):
      keys.reduce(targetBytes) { $0 + 64 + 4 * $1.text.utf8.count }
    }
  }

  /// The bytes that the documents take which a target's permission rests on.
  static func bytes(of dependencies: Set<DocumentKey>) -> Int {
    dependencies.reduce(0) { $0 + dependencyBytes + 2 * $1.text.utf8.count }
  }

  /// The bytes of a window that keeps the keys and positions of so many documents.
  static func bytes(ofWindow count: Int) -> Int { windowBytes * count }
}
