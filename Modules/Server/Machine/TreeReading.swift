import TernCore
import TernStorage
import TernTreeEngine

/// Lets an authorizer read the tree, and keeps the failure it cannot throw.
final class TreeReading {
  private let rows: TreeRows
  private let reader: any StoreReader
  private var failure: StorageError?

  init(_ rows: TreeRows, _ reader: any StoreReader) {
    self.rows = rows
    self.reader = reader
  }

  func node(at path: TreePath) -> TreeNode {
    let reader = reader
    do throws(StorageError) {
      return try rows.node(at: path, in: Snapshot(reader))
    } catch {
      failure = error
      return .empty
    }
  }

  /// Throws what went wrong while reading.
  func finish() throws(StorageError) {
    if let failure { throw failure }
  }
}
