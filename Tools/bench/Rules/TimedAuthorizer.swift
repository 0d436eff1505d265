import Synchronization
import TernCore
import TernQuery
import TernSecurity

/// Lets another authorizer decide, and keeps how long each decision about a write takes.
final class TimedAuthorizer: Authorizer {
  private let judge: any Authorizer
  private let nanoseconds = Mutex<[Int64]>([])

  init(_ judge: any Authorizer) { self.judge = judge }

  /// Returns the durations of the decisions since the last call, in nanoseconds, ascending.
  func take() -> [Int64] {
    nanoseconds.withLock { exchange(&$0, with: []) }.sorted()
  }

  func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict {
    judge.mayRead(request, in: state)
  }

  func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict {
    let clock = ContinuousClock()
    let start = clock.now
    let verdict = judge.mayWrite(request, in: state)
    let taken = start.duration(to: clock.now).components
    nanoseconds.withLock {
      $0.append(taken.seconds * 1_000_000_000 + taken.attoseconds / 1_000_000_000)
    }
    return verdict
  }
}
