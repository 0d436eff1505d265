public import Foundation
import TernCore
import TernQuery

/// The current state of a location, lent to the update function of a transaction to change.
///
/// Children made with ``childData(byAppendingPath:)`` write into the same state.
public final class MutableData {
  private let root: State
  private let path: TreePath
  private let name: TreeKey?
  /// The reason this is no location; a write to it fails the transaction.
  private let problem: DatabaseValueError?

  /// The state that all views of one transaction run share.
  private final class State {
    var node: TreeNode
    var error: DatabaseValueError?
    init(_ node: TreeNode) { self.node = node }
  }

  init(_ node: TreeNode, key: TreeKey?) {
    root = State(node)
    path = .root
    problem = nil
    name = key
  }

  private init(_ root: State, _ path: TreePath, problem: DatabaseValueError? = nil) {
    self.root = root
    self.path = path
    self.problem = problem
    name = path.last
  }

  var node: TreeNode { problem == nil ? root.node.node(at: path) : .empty }
  var error: DatabaseValueError? { root.error }

  /// The last segment of the location; `nil` at the top of the tree.
  public var key: String? { name?.text }

  /// The value: `NSNumber`, `NSString`, `NSDictionary`, `NSArray`, or `nil` when nothing is known.
  ///
  /// A new value replaces the children and, unless it brings one, keeps the priority.
  public var value: Any? {
    get { node.foundationValue }
    set {
      attempt { () throws(DatabaseValueError) in
        var new = try TreeNode(foundation: newValue, at: path)
        if new.priority == nil { new.setPriority(node.priority) }
        root.node.setNode(new, at: path)
      }
    }
  }

  /// The priority: a string, a number or `nil`.
  public var priority: Any? {
    get { node.priority?.foundation }
    set {
      attempt { () throws(DatabaseValueError) in
        var new = node
        new.setPriority(try TreeNode.priority(foundation: newValue, at: path))
        root.node.setNode(new, at: path)
      }
    }
  }

  /// Returns true when there are children.
  public func hasChildren() -> Bool { node.hasChildren }

  /// Returns true when there is data at `path` below here.
  public func hasChild(atPath path: String) -> Bool {
    !childData(byAppendingPath: path).node.isEmpty
  }

  /// The data at `path` below here, empty where nothing is; changing it changes this.
  ///
  /// Nothing is at what does not follow the rules of keys, and changing it fails the transaction.
  public func childData(byAppendingPath path: String) -> MutableData {
    if problem != nil { return self }
    do throws(TreeError) {
      return MutableData(root, self.path.appending(try TreePath(path)))
    } catch {
      return MutableData(root, self.path, problem: .tree(error, path: path))
    }
  }

  /// The number of children.
  public var childrenCount: UInt { UInt(node.childCount) }

  /// The children in the order of their priorities, then keys.
  public var children: NSEnumerator {
    let children =
      problem != nil
      ? [] : TreeQuery.all.ordered(node).map { MutableData(root, path.appending($0.key)) }
    return (children as NSArray).objectEnumerator()
  }

  private func attempt(_ change: () throws(DatabaseValueError) -> Void) {
    do throws(DatabaseValueError) {
      if let problem { throw problem }
      try change()
    } catch {
      root.error = root.error ?? error
    }
  }
}
