import TernCore
import TernQuery
import TernSecurity
import TernSync

/// What may be done in the simulated database: almost everything.
struct PlaygroundRules: Authorizer {
  /// Nobody may read below this.
  static let secret = TreeKey(unchecked: "secret")
  /// Below this each user has a place, which nobody else may read or write.
  static let own = TreeKey(unchecked: "own")
  /// Nobody may write below this.
  static let locked = TreeKey(unchecked: "locked")

  func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { Self.mayRead(path, by: requester.queueUser) }

  func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { Self.allows(assignments, by: requester.queueUser) }

  static func mayRead(_ path: TreePath, by user: QueueUser) -> Bool {
    path.first != secret && isOpen(path, to: user)
  }

  static func allows(_ assignments: [TreeMerge.Entry], by user: QueueUser) -> Bool {
    !assignments.contains { $0.path.first == locked || !isOpen($0.path, to: user) }
  }

  /// Whether a place is a user's, or everybody's.
  private static func isOpen(_ path: TreePath, to user: QueueUser) -> Bool {
    path.first != own || path.keys.count > 1 && QueueUser(path.keys[1].text) == user
  }
}
