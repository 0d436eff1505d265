import Synchronization
import TernClient

/// Lets calls that do not wait reach a session in the order they were made, even while it opens.
final class CallBuffer<Session: CallableSession>: Sendable {
  typealias Call = @Sendable (isolated Session) -> Void

  private struct WaitingCall {
    let call: Call
    /// Called instead of a call that is one too many; `nil` for one that is always taken.
    let failed: (@Sendable (any Error) -> Void)?
  }

  private enum State {
    case idle
    case opening
    case open(Session)
    case failed(any Error)
  }

  private let state = Mutex((State.idle, waiting: [WaitingCall]()))
  /// The most calls that wait for the opening.
  private let waitingCalls = WaitingLimits().calls
  private let opened = Promise<Result<Session, any Error>>()
  private let busy: @Sendable (_ limit: Int) -> any Error

  /// - Parameter busy: Makes the error of a call that is one too many.
  init(busy: @escaping @Sendable (_ limit: Int) -> any Error) { self.busy = busy }

  /// Starts to open the session, once.
  func open(_ opening: @escaping @Sendable () async throws -> Session) {
    let isFirst = state.withLock { state in
      guard case .idle = state.0 else { return false }
      state.0 = .opening
      return true
    }
    guard isFirst else { return }
    Task {
      do {
        finish(.success(try await opening()))
      } catch {
        finish(.failure(error))
      }
    }
  }

  /// Takes a call into the session's order.
  ///
  /// - Parameter failed: Called instead, when the session cannot be opened, or too many calls wait.
  func submit(_ call: @escaping Call, failed: @escaping @Sendable (any Error) -> Void) {
    if let failure = add(WaitingCall(call: call, failed: failed)) { failed(failure) }
  }

  /// Takes a call into the session's order, however many wait: one that ends something, or that no
  /// caller could make again. Without a session it has nothing to do.
  func submit(_ call: @escaping Call) { _ = add(WaitingCall(call: call, failed: nil)) }

  /// - Returns: The reason that a call is not taken.
  private func add(_ item: WaitingCall) -> (any Error)? {
    state.withLock { state in
      switch state.0 {
      case .idle: preconditionFailure("A buffer is opened before its first call.")
      case .opening where item.failed == nil || state.waiting.count < waitingCalls:
        state.waiting.append(item)
        return nil
      case .opening: return busy(waitingCalls)
      case .open(let session): return submit(item, to: session)
      case .failed(let error): return error
      }
    }
  }

  /// - Returns: Why the session does not take the call.
  private func submit(_ item: WaitingCall, to session: Session) -> (any Error)? {
    guard item.failed != nil else {
      session.submit(item.call)
      return nil
    }
    do throws(SessionBusy) {
      try session.submitCall(item.call)
      return nil
    } catch {
      return busy(error.limit)
    }
  }

  /// Waits for the session.
  func session() async throws -> Session {
    try await opened.value().get()
  }

  private func finish(_ result: Result<Session, any Error>) {
    let failures = state.withLock { state -> [(call: WaitingCall, error: any Error)] in
      guard case .opening = state.0 else { return [] }
      defer { state.waiting = [] }
      switch result {
      case .success(let session):
        state.0 = .open(session)
        return state.waiting.compactMap { item in
          submit(item, to: session).map { (item, $0) }
        }
      case .failure(let error):
        state.0 = .failed(error)
        return state.waiting.map { ($0, error) }
      }
    }
    for (item, error) in failures { item.failed?(error) }
    opened.resolve(result)
  }
}
