import Foundation
import Synchronization
import TernClient
import TernCore
import TernDocumentReplica

extension Firestore {
  /// Allows traffic again, and tries at once.
  public func enableNetwork(completion: (((any Error)?) -> Void)? = nil) {
    setNetwork(isEnabled: true, completion)
  }

  /// Allows traffic again, and tries at once.
  public func enableNetwork() async throws { try await setNetwork(isEnabled: true) }

  /// Stops all traffic: reads are answered by the cache, writes wait in the queue.
  public func disableNetwork(completion: (((any Error)?) -> Void)? = nil) {
    setNetwork(isEnabled: false, completion)
  }

  /// Stops all traffic: reads are answered by the cache, writes wait in the queue.
  public func disableNetwork() async throws { try await setNetwork(isEnabled: false) }

  /// Calls back when the server has answered every write that waits now, whatever it answers.
  public func waitForPendingWrites(completion: @escaping ((any Error)?) -> Void) {
    let callback = Callback<(any Error)?, Void> { error, _ in completion(error) }
    calls.settled { [self] error in calls.call { callback(error, ()) } }
  }

  /// Returns when the server has answered every write that waits now, whatever it answers.
  public func waitForPendingWrites() async throws {
    let answer = Promise<(any Error)?>()
    calls.settled { answer.resolve($0) }
    let cancelled = NSError.firestore(DocumentsError.cancelled)
    if let error = await answer.value(ifCancelled: cancelled) { throw error }
  }

  /// Calls `listener` whenever all listeners have heard the same state of the world, first now.
  @discardableResult
  public func addSnapshotsInSyncListener(
    _ listener: @escaping () -> Void
  ) -> any ListenerRegistration {
    let callback = Callback<Void, Void> { _, _ in listener() }
    let registration = SnapshotRegistration(self) { $0.unlistenInSync($1) }
    calls.submit(
      { [self] session in
        registration.begin {
          session.listenInSync(
            DocumentStepHandler(heard: {
              self.calls.call { if registration.isActive { callback((), ()) } }
            }))
        }
      }, failed: { _ in registration.end() })
    return registration
  }

  private func setNetwork(isEnabled: Bool, _ completion: (((any Error)?) -> Void)?) {
    let callback = Callback<(any Error)?, Void> { error, _ in completion?(error) }
    calls.setNetwork(isEnabled: isEnabled) { [self] error in calls.call { callback(error, ()) } }
  }

  private func setNetwork(isEnabled: Bool) async throws {
    let answer = Promise<(any Error)?>()
    calls.setNetwork(isEnabled: isEnabled) { answer.resolve($0) }
    if let error = await answer.value() { throw error }
  }
}

// MARK: - The end

extension Firestore {
  /// True after ``terminate()``.
  var isTerminated: Bool { calls.state.withLock { $0.isTerminated } }

  /// Ends all traffic and listeners; writes that wait stay queued for the next start.
  ///
  /// Later operations fail with ``FirestoreErrorCode/failedPrecondition``;
  /// ``firestore()`` gives a new one.
  public func terminate() async throws {
    if calls.endUnopened() { return }
    _ = try? await calls.opened()
    let opened = calls.state.withLock { state in
      state.isTerminated = true
      defer { state.opened = nil }
      return state.opened
    }
    await opened?.documents.terminate()
    await opened?.close()
  }

  /// The same; `completion` is called on the callback queue.
  public func terminate(completion: (((any Error)?) -> Void)? = nil) {
    ending(completion) { try await self.terminate() }
  }

  /// Forgets everything that is kept on this device, writes that wait included.
  ///
  /// - Throws: ``FirestoreErrorCode/failedPrecondition`` between the first operation and
  ///   ``terminate()``.
  public func clearPersistence() async throws {
    let choices: FirestoreChoices? = calls.state.withLock { state in
      guard !state.isFrozen || state.isTerminated, state.opened == nil else { return nil }
      return state.choices
    }
    guard let choices else {
      throw FirestoreErrorCode.failedPrecondition.error(
        "Persistence can be cleared before the first operation and after terminate().")
    }
    do {
      let opened = try await calls.opening(choices, true)
      await opened.documents.terminate()
      let result = await Self.cleared(opened.documents)
      await opened.close()
      try result.get()
    } catch {
      throw NSError.firestore(error)
    }
  }

  /// The same; `completion` is called on the callback queue.
  public func clearPersistence(completion: (((any Error)?) -> Void)? = nil) {
    ending(completion) { try await self.clearPersistence() }
  }

  private static func cleared(_ documents: Documents) async -> Result<Void, DocumentsError> {
    do throws(DocumentsError) {
      try await documents.clearPersistence()
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  private func ending(
    _ completion: (((any Error)?) -> Void)?, _ body: @escaping @Sendable () async throws -> Void
  ) {
    let callback = Callback<(any Error)?, Void> { error, _ in completion?(error) }
    Task { [self] in
      var failure: (any Error)?
      do { try await body() } catch { failure = error }
      calls.call { [failure] in callback(failure, ()) }
    }
  }
}
