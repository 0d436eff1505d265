import TernCore
import TernSecurity
import TernStorage
import TernTreeRows

/// Lets an authorizer read the tree, and keeps the failure it cannot throw.
///
/// Single nodes are answered from single rows, whatever lies below them; an answer is remembered,
/// for one place is asked about by many rules.
///
/// Rules read synchronously and cannot throw storage errors. A failed read returns absent data and
/// is kept in `failure`; the owner of the reading calls ``finish()`` before it uses the verdict,
/// which is worthless after a failure.
///
/// It lives for one verdict. The remembered shapes are valid as long as the batch makes no further
/// change.
final class TreeReading: RulesSnapshot {
  private let rows: TreeRows
  private let reader: any StoreReader
  private var shapes: [TreePath: RulesShape] = [:]
  private var failure: StorageError?

  init(_ rows: TreeRows, _ reader: any StoreReader) {
    self.rows = rows
    self.reader = reader
  }

  /// The state for an authorizer.
  var state: TreeState { TreeState(snapshot: self) { self.node(at: $0) } }

  /// Reads everything at a path. The cost is linear in the data; rules that need less use the other
  /// functions.
  func node(at path: TreePath) -> TreeNode {
    let reader = reader
    do throws(StorageError) {
      return try rows.node(at: path, in: Snapshot(reader))
    } catch {
      failure = error
      return .empty
    }
  }

  /// Reads one or two rows, whatever lies below.
  func shape(at path: TreePath) throws(RulesDataError) -> RulesShape {
    if let known = shapes[path] { return known }
    let reader = reader
    let shape = try attempt { () throws(StorageError) in
      let view = Snapshot(reader)
      if let scalar = try rows.scalar(at: path, in: view) { return RulesShape.leaf(scalar) }
      return try rows.hasChildren(at: path, in: view) ? .children : .absent
    }
    shapes[path] = shape
    return shape
  }

  func priority(at path: TreePath) throws(RulesDataError) -> TreeScalar? {
    let reader = reader
    return try attempt { () throws(StorageError) in
      try rows.scalar(at: path.appending(.priority), in: Snapshot(reader))
    }
  }

  /// Returns a page of the children at a path.
  ///
  /// - Parameters:
  ///   - key: The last child of the previous page; `nil` for the first page.
  ///   - limit: The most children of the page.
  func children(
    at path: TreePath, after key: TreeKey?, limit: Int
  ) throws(RulesDataError) -> [RulesChild] {
    let reader = reader
    let keys = try attempt { () throws(StorageError) in
      try rows.childKeys(of: path, after: key, limit: limit, in: Snapshot(reader))
    }
    var children: [RulesChild] = []
    children.reserveCapacity(keys.count)
    for key in keys {
      children.append(RulesChild(key: key, shape: try shape(at: path.appending(key))))
    }
    return children
  }

  /// Throws what went wrong while reading.
  func finish() throws(StorageError) {
    if let failure { throw failure }
  }

  private func attempt<R>(
    _ read: () throws(StorageError) -> R
  ) throws(RulesDataError) -> R {
    do throws(StorageError) { return try read() } catch {
      failure = error
      throw RulesDataError(error)
    }
  }
}
