public import Foundation
import TernCore
import TernQuery

/// The data at a location when an observer received it; it never changes.
public final class DataSnapshot: Sendable {
  /// The location.
  public let ref: DatabaseReference
  let node: TreeNode
  let query: TreeQuery

  init(ref: DatabaseReference, node: TreeNode, query: TreeQuery = .all) {
    self.ref = ref
    self.node = node
    self.query = query
  }

  /// The last segment of the location; empty at the top of the tree.
  public var key: String { ref.key ?? "" }

  /// The value as `NSNumber`, `NSString`, `NSDictionary` or `NSArray`; `nil` when nothing is here.
  ///
  /// Children whose keys are mostly the whole numbers from zero come as an array.
  public var value: Any? { node.foundationValue }

  /// The value with priorities, in the form that can be written back unchanged.
  public func valueInExportFormat() -> Any? { node.foundationExport }

  /// The priority: a string, a number or `nil`.
  public var priority: Any? { node.priority?.foundation }

  /// Returns true when there is any data.
  public func exists() -> Bool { !node.isEmpty }

  /// Returns true when there are children.
  public func hasChildren() -> Bool { node.hasChildren }

  /// Returns true when there is data at `path` below here.
  public func hasChild(_ path: String) -> Bool { childSnapshot(forPath: path).exists() }

  /// The number of children.
  public var childrenCount: UInt { UInt(node.childCount) }

  /// The data at `path` below here; a snapshot of nothing where nothing is.
  ///
  /// Nothing is at what does not follow the rules of keys.
  public func childSnapshot(forPath path: String) -> DataSnapshot {
    let below = try? TreePath(path)
    return DataSnapshot(ref: ref.child(path), node: below.map { node.node(at: $0) } ?? .empty)
  }

  /// The children, in the order of the query they were read with.
  public var children: NSEnumerator {
    let snapshots = query.ordered(node).map { child in
      DataSnapshot(ref: ref.descendant(TreePath.root.appending(child.key)), node: child.node)
    }
    return (snapshots as NSArray).objectEnumerator()
  }
}

extension DataSnapshot: CustomStringConvertible {
  public var description: String {
    "Snap (\(key)) \(node.foundationExport.map { "\($0)" } ?? "null")"
  }
}
