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
  /// One entry of the queue.
  private enum Work: Sendable {
    /// An actor's job, from the runtime.
    case job(UnownedJob)
    /// A delivery, or work that was given to the transport.
    case closure(@Sendable () -> Void)
  }

  /// The outcome of one look at the queue.
  private enum Step {
    /// Everything that waited is performed, outside the lock.
    case perform([Work])
    /// The turn is used up: the drain goes on in a task of its own.
    case yield
    /// Nothing waits: the drain is over, and the next entry starts another one.
    case idle
  }

  /// At most one drain exists at a time, and ``thread`` is its thread while it runs.
  private struct State {
    /// The entries in their order.
    var waiting: [Work] = []
    /// True while a drain runs or is scheduled; by hand, while ``runUntilIdle()`` or
    /// ``runNow(_:)`` runs.
    var isDraining = false
    /// The thread that drains now; `pthread_t` is not Sendable everywhere, its bits are.
    var thread: UInt?
  }

  /// The number of jobs that one pool task performs before it yields the thread to other tasks. A
  /// batch that is taken from the queue is always finished, so a turn may perform more.
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
  ///
  /// A call from within work of this executor performs nothing and returns 0.
  ///
  /// - Returns: How many pieces of work were performed.
  @discardableResult
  public func runUntilIdle() -> Int {
    precondition(isByHand, "this executor runs by itself")
    guard begin() else { return 0 }
    return drain(limit: .max)
  }

  /// Puts work behind all that waits. From any thread.
  func add(_ closure: @escaping @Sendable () -> Void) {
    add(.closure(closure))
  }

  /// Performs `body` at once as if it had been at the head of the queue. By hand only.
  ///
  /// Work that `body` queues stays queued for the next ``runUntilIdle()``.
  func runNow<R>(_ body: () -> R) -> R {
    if isCurrent { return body() }
    precondition(begin(), "an executor driven by hand belongs to one thread at a time")
    defer { end() }
    return body()
  }
}

// MARK: - Draining

extension LoopbackExecutor {
  /// Compared by thread: with no drain running the thread is `nil`, and no caller is current.
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

  /// Lets a task of the shared pool drain the queue.
  private func start() {
    Task.detached { [self] in
      takeTurn()
    }
  }

  private func takeTurn() {
    state.withLock { $0.thread = Self.currentThread }
    drain(limit: Self.workPerTurn)
  }

  /// Claims the executor for the calling thread; `false` while another drain has it.
  private func begin() -> Bool {
    let here = Self.currentThread
    return state.withLock { state in
      guard !state.isDraining else { return false }
      state.isDraining = true
      state.thread = here
      return true
    }
  }

  /// Gives the executor up. What was queued meanwhile stays.
  private func end() {
    state.withLock { state in
      state.isDraining = false
      state.thread = nil
    }
  }

  /// Performs the queue until it is empty or the turn is over.
  ///
  /// - Parameter limit: The number of entries after which the drain yields.
  /// - Returns: The number of entries that were performed.
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
      // `isDraining` stays true: the task that goes on is scheduled by the caller, and no other
      // may start.
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
