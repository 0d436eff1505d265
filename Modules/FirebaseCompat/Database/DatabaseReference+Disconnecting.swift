import Foundation
import TernClient
import TernCore

extension DatabaseReference {
  /// Lets the server replace what is here when this client's connection ends, however it ends.
  public func onDisconnectSetValue(_ value: Any?) {
    deferred(assignment(value), ignoring)
  }

  /// The same; `block` is called when the server has registered or refused it.
  public func onDisconnectSetValue(
    _ value: Any?, withCompletionBlock block: @escaping DatabaseCompletion
  ) {
    deferred(assignment(value), block)
  }

  /// The same; returns when the server has registered it.
  @discardableResult
  public func onDisconnectSetValue(_ value: Any?) async throws -> DatabaseReference {
    try await registered(assignment(value))
  }

  /// Lets the server replace what is here and its priority when the connection ends.
  public func onDisconnectSetValue(_ value: Any?, andPriority priority: Any?) {
    deferred(assignment(value, priority: priority), ignoring)
  }

  /// The same; `block` is called when the server has registered or refused it.
  public func onDisconnectSetValue(
    _ value: Any?, andPriority priority: Any?,
    withCompletionBlock block: @escaping DatabaseCompletion
  ) {
    deferred(assignment(value, priority: priority), block)
  }

  /// The same; returns when the server has registered it.
  @discardableResult
  public func onDisconnectSetValue(
    _ value: Any?, andPriority priority: Any?
  ) async throws -> DatabaseReference {
    try await registered(assignment(value, priority: priority))
  }

  /// Lets the server delete what is here when the connection ends.
  public func onDisconnectRemoveValue() { deferred(assignment(nil), ignoring) }

  /// The same; `block` is called when the server has registered or refused it.
  public func onDisconnectRemoveValue(
    completionBlock block: @escaping DatabaseCompletion
  ) {
    deferred(assignment(nil), block)
  }

  /// The same; returns when the server has registered it.
  @discardableResult
  public func onDisconnectRemoveValue() async throws -> DatabaseReference {
    try await registered(assignment(nil))
  }

  /// Lets the server update several paths below here when the connection ends.
  public func onDisconnectUpdateChildValues(_ values: [AnyHashable: Any]) {
    deferred(merge(values), ignoring)
  }

  /// The same; `block` is called when the server has registered or refused it.
  public func onDisconnectUpdateChildValues(
    _ values: [AnyHashable: Any], withCompletionBlock block: @escaping DatabaseCompletion
  ) {
    deferred(merge(values), block)
  }

  /// The same; returns when the server has registered it.
  @discardableResult
  public func onDisconnectUpdateChildValues(
    _ values: [AnyHashable: Any]
  ) async throws -> DatabaseReference {
    try await registered(merge(values))
  }

  /// Takes back every deferred write here and below.
  public func cancelDisconnectOperations() { start(.success(.cancel(path))) { _ in } }

  /// The same; `block` is called when the server has answered.
  public func cancelDisconnectOperations(
    completionBlock block: DatabaseCompletion?
  ) {
    let callback = Callback<(any Error)?, DatabaseReference> { block?($0, $1) }
    start(.success(.cancel(path))) { [self] error in database.call { callback(error, self) } }
  }

  /// The same; returns when the server has answered.
  @discardableResult
  public func cancelDisconnectOperations() async throws -> DatabaseReference {
    try await answered(.success(.cancel(path)))
  }
}

extension DatabaseReference {
  private func deferred(
    _ write: Result<TreeWrite, any Error>, _ block: @escaping DatabaseCompletion
  ) {
    let callback = Callback(block)
    start(write.map { .write($0) }) { [self] error in database.call { callback(error, self) } }
  }

  private func registered(
    _ write: Result<TreeWrite, any Error>
  ) async throws -> DatabaseReference {
    try await answered(write.map { .write($0) })
  }

  private func answered(
    _ verb: Result<DeferredWrite, any Error>
  ) async throws -> DatabaseReference {
    let answer = Promise<(any Error)?>()
    start(verb) { answer.resolve($0) }
    if let error = await answer.value(ifCancelled: NSError.canceledWait) { throw error }
    return self
  }

  private func start(
    _ verb: Result<DeferredWrite, any Error>, _ ended: @escaping @Sendable ((any Error)?) -> Void
  ) {
    switch verb {
    case .failure(let error): ended(NSError.database(error))
    case .success(let verb):
      perform(
        { session in
          session.deferWrite(verb) { result in
            switch result {
            case .success: ended(nil)
            case .failure(let error): ended(NSError.database(DatabaseError(error)))
            }
          }
        }, failed: { ended(NSError.database($0)) })
    }
  }
}
