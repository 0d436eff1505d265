import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The serial executor of a loopback: one queue of actor jobs and deliveries, in one order.
///
/// It owns no thread. Waiting work is drained by a task of the shared pool or, by hand, by the
/// test that calls ``runUntilIdle()``; then nothing moves between two calls.
public final class LoopbackExecutor: SerialExecutor {
  private enum Work: Sendable {
    case job(UnownedJob)
    case closure(@Sendable () -> Void)
  }

  private enum Step {
    case perform([Work])
    case yield
    case idle
  }

  private struct State {
    var waiting: [Work] = []
    var isDraining = false
    /// The thread that drains now; `pthread_t` is not Sendable everywhere, its bits are.
    var thread: UInt?
  }

  /// The number of jobs that one pool task performs before it yields the thread to other tasks.
  private static let workPerTurn = 256

  private let state = Mutex(State())
  private let isByHand: Bool

  package init(isByHand: Bool) {
    self.isByHand = isByHand
  }

  /// Takes an actor's job; called by the runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    add(.job(UnownedJob(job)))
  }

  /// Stops the program unless the caller runs on this executor.
  public func checkIsolated() {
    precondition(isCurrent, "this must run on the loopback's executor")
  }

  /// Returns true when the caller runs on this executor.
  public func isIsolatingCurrentContext() -> Bool? {
    isCurrent
  }

  /// Performs everything that waits, and what that leads to, on the calling thread.
  ///
  /// Only for an executor that is driven by hand.
  /// - Returns: How many pieces of work were performed.
  @discardableResult
  public func runUntilIdle() -> Int {
    precondition(isByHand, "this executor runs by itself")
    guard begin() else { return 0 }
    return drain(limit: .max)
  }

  func add(_ closure: @escaping @Sendable () -> Void) {
    add(.closure(closure))
  }

  /// Performs `body` at once as if it had been at the head of the queue. By hand only.
  func runNow<R>(_ body: () -> R) -> R {
    if isCurrent { return body() }
    precondition(begin(), "an executor driven by hand belongs to one thread at a time")
    defer { end() }
    return body()
  }
}

// MARK: - Draining

extension LoopbackExecutor {
  private var isCurrent: Bool {
    let here = Self.currentThread
    return state.withLock { $0.thread == here }
  }

  private static var currentThread: UInt {
    #if canImport(Darwin)
      return UInt(bitPattern: unsafe pthread_self())
    #else
      return UInt(pthread_self())
    #endif
  }

  private func add(_ work: Work) {
    let mustStart = state.withLock { state in
      state.waiting.append(work)
      guard !isByHand, !state.isDraining else { return false }
      state.isDraining = true
      return true
    }
    if mustStart { start() }
  }

  private func start() {
    Task.detached { [self] in
      takeTurn()
    }
  }

  private func takeTurn() {
    state.withLock { $0.thread = Self.currentThread }
    drain(limit: Self.workPerTurn)
  }

  private func begin() -> Bool {
    let here = Self.currentThread
    return state.withLock { state in
      guard !state.isDraining else { return false }
      state.isDraining = true
      state.thread = here
      return true
    }
  }

  private func end() {
    state.withLock { state in
      state.isDraining = false
      state.thread = nil
    }
  }

  @discardableResult
  private func drain(limit: Int) -> Int {
    var performed = 0
    while true {
      switch next(mayContinue: performed < limit) {
      case .perform(let batch):
        for work in batch { perform(work) }
        performed += batch.count
      case .yield:
        start()
        return performed
      case .idle:
        return performed
      }
    }
  }

  /// Returns the next step of a drain; decided under the lock, so that exactly one drain is ever
  /// scheduled.
  private func next(mayContinue: Bool) -> Step {
    state.withLock { state in
      if state.waiting.isEmpty {
        state.isDraining = false
        state.thread = nil
        return .idle
      }
      guard mayContinue else {
        state.thread = nil
        return .yield
      }
      return .perform(exchange(&state.waiting, with: []))
    }
  }

  private func perform(_ work: Work) {
    switch work {
    case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    case .closure(let closure): closure()
    }
  }
}
