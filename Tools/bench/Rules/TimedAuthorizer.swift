import Synchronization
import TernCore
import TernQuery
import TernSecurity

/// Lets another authorizer decide, and keeps how long each decision about a write takes.
final class TimedAuthorizer: Authorizer {
  private let judge: any Authorizer
  private let nanoseconds = Mutex<[Int64]>([])

  init(_ judge: any Authorizer) { self.judge = judge }

  /// What the decisions since the last call took, in nanoseconds, ascending.
  func take() -> [Int64] {
    nanoseconds.withLock { exchange(&$0, with: []) }.sorted()
  }

  func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { judge.mayRead(path, query, by: requester, now: now, tree: tree) }

  func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { judge.mayWrite(assignments, by: requester, now: now, tree: tree) }

  func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64, in state: TreeState
  ) -> Bool { judge.mayRead(path, query, by: requester, now: now, in: state) }

  func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64, in state: TreeState
  ) -> Bool {
    let clock = ContinuousClock()
    let start = clock.now
    let verdict = judge.mayWrite(assignments, by: requester, now: now, in: state)
    let taken = start.duration(to: clock.now).components
    nanoseconds.withLock {
      $0.append(taken.seconds * 1_000_000_000 + taken.attoseconds / 1_000_000_000)
    }
    return verdict
  }
}
