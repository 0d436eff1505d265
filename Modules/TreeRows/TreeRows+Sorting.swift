package import TernCore
package import TernQuery
package import TernStorage

extension TreeRows {
  /// Returns the value by which `order` sorts the child at `path`; `nil` when the child does not
  /// exist.
  ///
  /// - Complexity: A few seeks, whatever the size of the child.
  package func sortValue(
    of path: TreePath, by order: TreeOrder,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeSortValue? {
    let value: TreeSortValue
    switch order {
    case .key: value = .empty
    case .value: value = try kind(of: path, in: view)
    case .priority: value = TreeSortValue(try scalar(at: path.appending(.priority), in: view))
    case .child(let below): value = try kind(of: path.appending(below), in: view)
    }
    if value == .empty, try isEmpty(at: path, in: view) { return nil }
    return value
  }

  private func kind(
    of path: TreePath, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeSortValue {
    if let scalar = try scalar(at: path, in: view) { return .scalar(scalar) }
    return try holdsRows(childRange(of: path), in: view) ? .children : .empty
  }
}
