/// The rows of a node in a store, and their bytes without the path above it.
package struct NodeSize: Hashable, Sendable {
  package private(set) var rows = 0
  package private(set) var bytes = 0

  package init(rows: Int = 0, bytes: Int = 0) {
    self.rows = rows
    self.bytes = bytes
  }

  /// Counts a row.
  package mutating func add(_ bytes: Int) {
    rows += 1
    self.bytes += bytes
  }
}
