import Synchronization
import TernLogMemory

/// The point at which the operations of one node's process wait, until the world lets them go on.
final class NodeGate: Sendable {
  /// The thing that an operation waits for.
  enum Wait: Hashable, Sendable {
    /// A request is on its way to the log.
    case request(LogOperation.Kind)
    /// An answer is on its way back.
    case answer(LogOperation.Kind)
    /// The process sleeps for so many milliseconds.
    case sleep(Int64)
    /// A task gives its turn away.
    case turn

    /// True when nothing outside of the process is waited for.
    fileprivate var isOwn: Bool {
      switch self {
      case .sleep, .turn: true
      case .request, .answer: false
      }
    }
  }

  private struct State {
    var chance: RandomSource
    var lastID = 0
    var waiting: [Int: (wait: Wait, continuation: CheckedContinuation<Bool, Never>)] = [:]
    /// The sleeps of a process that was killed.
    var frozen: [CheckedContinuation<Bool, Never>] = []
    /// The waits that the world does not know of yet.
    var arrivals: [(id: Int, wait: Wait)] = []
    var isDead = false
    var isEnded = false
    var isHurried = false

    /// Most operations take no time, so that a world spends its steps on those where it matters.
    mutating func isDirect(_ wait: Wait) -> Bool {
      switch wait {
      case .sleep, .turn, .request(.append), .answer(.append): false
      case .request, .answer: isHurried || !chance.happens(0.12)
      }
    }
  }

  private let state: Mutex<State>
  /// True when the sleeps of a killed process never end: its tasks would go on without time.
  private let freezes: Bool

  /// - Parameter freezes: True for a process whose tasks repeat what fails after a sleep.
  init(seed: UInt64, freezes: Bool = false) {
    self.freezes = freezes
    state = Mutex(State(chance: RandomSource(seed: seed)))
  }

  /// Waits, or goes on at once.
  ///
  /// - Returns: Whether what waited is to happen; `false` once the process is dead.
  func pass(_ wait: Wait) async -> Bool {
    let isOpen: Bool? = state.withLock { state in
      if state.isEnded { return false }
      if state.isDead { return freezes && wait.isOwn ? nil : false }
      return state.isDirect(wait) ? true : nil
    }
    if let isOpen { return isOpen }
    return await withCheckedContinuation { continuation in
      state.withLock { state in
        if state.isDead { return state.frozen.append(continuation) }
        state.lastID += 1
        state.waiting[state.lastID] = (wait, continuation)
        state.arrivals.append((state.lastID, wait))
      }
    }
  }

  /// The waits since the last call.
  func takeArrivals() -> [(id: Int, wait: Wait)] {
    state.withLock { state in
      defer { state.arrivals = [] }
      return state.arrivals
    }
  }

  /// Lets a wait end, if it has not ended.
  func open(_ id: Int, happens: Bool = true) {
    state.withLock { $0.waiting.removeValue(forKey: id)?.continuation }?.resume(returning: happens)
  }

  /// The process has died: its sleeps end and it hears no answer. Requests stay on their way.
  func kill() {
    state.withLock { state in
      guard freezes else { return }
      let own = state.waiting.filter { $0.value.wait.isOwn }
      for (id, waiting) in own {
        state.waiting[id] = nil
        state.frozen.append(waiting.continuation)
      }
    }
    end { wait in
      if case .request = wait { false } else { true }
    }
  }

  /// Ends everything, requests too.
  func endAll() {
    let frozen = state.withLock { state in
      state.isEnded = true
      return exchange(&state.frozen, with: [])
    }
    end { _ in true }
    for continuation in frozen { continuation.resume(returning: false) }
  }

  /// Lets all operations but appends go on at once.
  func hurry() { state.withLock { $0.isHurried = true } }

  /// True while nothing waits.
  var isIdle: Bool { state.withLock { $0.waiting.isEmpty } }

  private func end(_ isOver: (Wait) -> Bool) {
    let ended = state.withLock { state in
      state.isDead = true
      let ended = state.waiting.filter { isOver($0.value.wait) }
      for id in ended.keys { state.waiting[id] = nil }
      return ended.sorted { $0.key < $1.key }
    }
    for (_, waiting) in ended { waiting.continuation.resume(returning: false) }
  }
}
