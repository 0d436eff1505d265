import Dispatch
import Synchronization

/// Hands a value from a task to a thread that waits for it.
final class Handover<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)
  private let there = DispatchSemaphore(value: 0)

  func give(_ given: Value) {
    value.withLock { $0 = given }
    there.signal()
  }

  func take() -> Value {
    there.wait()
    guard let taken = value.withLock({ $0 }) else {
      preconditionFailure("whoever signals has given a value")
    }
    return taken
  }
}
