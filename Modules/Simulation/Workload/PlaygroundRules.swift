import TernCore
import TernQuery
import TernSecurity

/// What may be done in the simulated database: almost everything.
struct PlaygroundRules: Authorizer {
  /// Nobody may read below this.
  static let secret = TreeKey(unchecked: "secret")
  /// Nobody may write below this.
  static let locked = TreeKey(unchecked: "locked")

  func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { path.first != Self.secret }

  func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { Self.allows(assignments) }

  static func allows(_ assignments: [TreeMerge.Entry]) -> Bool {
    !assignments.contains { $0.path.first == locked }
  }
}
