import Synchronization
import TernSync

/// A value that comes once, for any number of waiters.
package final class Promise<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiters: [UInt64: @Sendable (Value) -> Void] = [:]
    var lastWaiter: UInt64 = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// Gives the value; later ones are ignored.
  package func resolve(_ value: Value) {
    let waiters = state.withLock { state -> [@Sendable (Value) -> Void] in
      guard state.value == nil else { return [] }
      state.value = value
      defer { state.waiters = [:] }
      return state.waiters.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiter in waiters { waiter(value) }
  }

  /// Calls `waiter` with the value, now or later.
  @discardableResult
  package func then(_ waiter: @escaping @Sendable (Value) -> Void) -> UInt64 {
    let (id, value) = state.withLock { state in
      state.lastWaiter += 1
      if state.value == nil { state.waiters[state.lastWaiter] = waiter }
      return (state.lastWaiter, state.value)
    }
    if let value { waiter(value) }
    return id
  }

  /// Waits for the value; a cancelled task gets `substitute` at once, and a wait that takes longer
  /// than `limit` on `clock` gets `late`.
  package func value(
    ifCancelled substitute: Value, within limit: Duration, on clock: any Clock<Duration>,
    late: Value
  ) async -> Value {
    let waiting = Promise<Value>()
    let timer = Task {
      try await clock.sleep(for: limit)
      waiting.resolve(late)
    }
    defer { timer.cancel() }
    return await value(ifCancelled: substitute, resolving: waiting)
  }

  /// Waits for the value; a cancelled task gets `substitute` at once.
  package func value(ifCancelled substitute: Value) async -> Value {
    await value(ifCancelled: substitute, resolving: Promise<Value>())
  }

  private func value(
    ifCancelled substitute: Value, resolving waiting: Promise<Value>
  ) async -> Value {
    let id = then { waiting.resolve($0) }
    defer { _ = state.withLock { $0.waiters.removeValue(forKey: id) } }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting.then { continuation.resume(returning: $0) }
      }
    } onCancel: {
      waiting.resolve(substitute)
    }
  }

  /// Waits for the value, cancelled or not.
  package func value() async -> Value {
    await withCheckedContinuation { continuation in
      then { continuation.resume(returning: $0) }
    }
  }
}

/// The promises about one write.
package struct WritePromise: Sendable {
  /// That it is durable on this device, or why not.
  package let stored = Promise<Result<Void, WriteError>>()
  /// The server's verdict.
  package let end = Promise<WriteEnd>()

  /// The database was closed before the write was taken.
  func closed() {
    stored.resolve(.failure(.closed))
    end.resolve(.closed)
  }

  func notStored(_ error: QueueError) {
    stored.resolve(.failure(.queue(error)))
    end.resolve(.notStored(error))
  }

  func settled(_ verdict: WriteEnd) {
    stored.resolve(.success(()))
    end.resolve(verdict)
  }
}
