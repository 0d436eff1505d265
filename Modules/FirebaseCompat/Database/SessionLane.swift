import Synchronization
import TernClient

/// Lets calls that do not wait reach a session in the order they were made, even while it opens.
final class SessionLane: Sendable {
  typealias Call = @Sendable (isolated TreeSession) -> Void

  private struct WaitingCall {
    let call: Call
    let failed: @Sendable (any Error) -> Void
  }

  private enum State {
    case idle
    case opening([WaitingCall])
    case open(TreeSession)
    case failed(any Error)
  }

  private let state = Mutex(State.idle)
  private let opened = Promise<Result<TreeSession, any Error>>()

  /// Starts to open the session, once.
  func open(_ opening: @escaping @Sendable () async throws -> TreeSession) {
    let isFirst = state.withLock { state in
      guard case .idle = state else { return false }
      state = .opening([])
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
  /// - Parameter failed: Called instead, when the session cannot be opened.
  func submit(
    _ call: @escaping Call, failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    let failure: (any Error)? = state.withLock { state in
      switch state {
      case .idle: preconditionFailure("A lane is opened before its first call.")
      case .opening(let waiting):
        state = .opening(waiting + [WaitingCall(call: call, failed: failed)])
      case .open(let session): session.submit(call)
      case .failed(let error): return error
      }
      return nil
    }
    if let failure { failed(failure) }
  }

  /// Waits for the session.
  func session() async throws -> TreeSession {
    try await opened.value().get()
  }

  private func finish(_ result: Result<TreeSession, any Error>) {
    let failures = state.withLock { state -> [@Sendable (any Error) -> Void] in
      guard case .opening(let waiting) = state else { return [] }
      switch result {
      case .success(let session):
        for item in waiting { session.submit(item.call) }
        state = .open(session)
        return []
      case .failure(let error):
        state = .failed(error)
        return waiting.map(\.failed)
      }
    }
    if case .failure(let error) = result { for failed in failures { failed(error) } }
    opened.resolve(result)
  }
}
