import TernCore
import TernQuery
import TernSecurity
import TernSync

/// The rules of the simulated database, for a planted bug: all may be read.
struct OpenWorkloadRules: Authorizer {
  func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict {
    TreeVerdict(isAllowed: true)
  }

  func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict {
    WorkloadRules().mayWrite(request, in: state)
  }
}

/// The rules of the simulated database: almost everything is allowed.
struct WorkloadRules: Authorizer {
  /// The key below which every read is denied.
  static let secret = TreeKey(unchecked: "secret")
  /// The key of the users' private subtrees, which other users cannot read or write.
  static let own = TreeKey(unchecked: "own")
  /// The key below which every write is denied.
  static let locked = TreeKey(unchecked: "locked")

  func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict {
    TreeVerdict(isAllowed: Self.mayRead(request.path, by: request.requester.queueUser))
  }

  func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict {
    guard let assignments = request.assignments else { return .undecided }
    return TreeVerdict(isAllowed: Self.allows(assignments, by: request.requester.queueUser))
  }

  static func mayRead(_ path: TreePath, by user: QueueUser) -> Bool {
    path.first != secret && isOpen(path, to: user)
  }

  static func allows(_ assignments: [TreeMerge.Entry], by user: QueueUser) -> Bool {
    !assignments.contains { $0.path.first == locked || !isOpen($0.path, to: user) }
  }

  /// Returns `true` if a path is open to all users, or belongs to this user.
  private static func isOpen(_ path: TreePath, to user: QueueUser) -> Bool {
    path.first != own || path.keys.count > 1 && QueueUser(path.keys[1].text) == user
  }
}
