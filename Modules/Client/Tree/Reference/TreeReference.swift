public import TernCore

/// A location in the tree. Creating a reference performs no I/O.
public struct TreeReference: Sendable {
  let session: TreeSession
  /// The path of the location.
  public let path: TreePath
  /// The error of a text that is no path; every use throws it.
  let problem: TreeError?

  package init(session: TreeSession, path: TreePath, problem: TreeError?) {
    self.session = session
    self.path = path
    self.problem = problem
  }
}

extension TreeReference {
  /// The last segment; `nil` at the root.
  public var key: TreeKey? { path.last }

  /// The last segment as text; empty at the root.
  public var name: String { key?.text ?? "" }

  /// The place above; `nil` at the root.
  public var parent: TreeReference? {
    path.parent.map { TreeReference(session: session, path: $0, problem: problem) }
  }

  /// The whole tree.
  public var root: TreeReference { TreeReference(session: session, path: .root, problem: nil) }

  /// The place at a path below, such as `title` or `members/ann`.
  public subscript(text: String) -> TreeReference {
    guard problem == nil else { return self }
    do throws(TreeError) {
      let below = try TreePath(text)
      return TreeReference(session: session, path: path.appending(below), problem: nil)
    } catch {
      return TreeReference(session: session, path: path, problem: error)
    }
  }

  /// The place at a path below.
  public func child(_ text: String) -> TreeReference { self[text] }

  /// The place of a child.
  public func child(_ key: TreeKey) -> TreeReference {
    TreeReference(session: session, path: path.appending(key), problem: problem)
  }

  /// The place of a new child, named so that children sort by the time they were made.
  ///
  /// Nothing is written or sent.
  public func newChild() async -> TreeReference { child(await session.pushKey()) }
}

extension TreeReference: Equatable, CustomStringConvertible {
  /// Returns true when both are the same location of the same database.
  public static func == (left: TreeReference, right: TreeReference) -> Bool {
    left.session === right.session && left.path == right.path && left.problem == right.problem
  }

  public var description: String { "/" + path.text }
}
