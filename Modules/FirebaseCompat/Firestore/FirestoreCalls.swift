import Foundation
import Synchronization
import TernClient
import TernCore
import TernSync

/// The calls that an application makes to a database, and the session that carries them out.
///
/// The first call opens the database. Calls reach its session in the order they were made, and the
/// application is called back on its own queue.
final class FirestoreCalls: Sendable {
  /// The life of a database up to now.
  struct State {
    var choices = FirestoreChoices()
    /// True from the first operation on, when settings no longer change.
    var isFrozen = false
    var isTerminated = false
    var opened: OpenedDocuments?
  }

  let state = Mutex(State())
  let opening: Firestore.Opening
  private let database: DocumentDatabase
  private let buffer = CallBuffer<DocumentSession> { limit in
    FirestoreErrorCode.resourceExhausted.error("More than \(limit) calls wait.")
  }

  init(_ database: DocumentDatabase, opening: @escaping Firestore.Opening) {
    self.database = database
    self.opening = opening
  }

  /// Waits until the database is open.
  ///
  /// - Throws: What opening it threw.
  func opened() async throws -> OpenedDocuments? {
    open()
    _ = try await buffer.session()
    return state.withLock { $0.opened }
  }

  /// Opens the database, once.
  func open() {
    state.withLock { state in
      guard !state.isFrozen else { return }
      state.isFrozen = true
      let (opening, choices) = (opening, state.choices)
      // In the lock: a call of another thread that finds it frozen finds the buffer opened.
      buffer.open { [self] in try await session(opening, choices) }
    }
  }

  /// Ends a database that no operation has begun to open; nothing opens it any more.
  ///
  /// - Returns: False when an operation has.
  func endUnopened() -> Bool {
    state.withLock { state in
      guard !state.isFrozen else { return false }
      (state.isFrozen, state.isTerminated) = (true, true)
      buffer.open { throw DocumentsError.closed }
      return true
    }
  }

  private func session(
    _ opening: Firestore.Opening, _ choices: FirestoreChoices
  ) async throws -> DocumentSession {
    let opened = try await opening(choices, false)
    state.withLock { $0.opened = opened }
    if DebugLog.isEnabled(.documents) {
      // It ends with the documents.
      Task {
        for await state in opened.documents.connection {
          DebugLog.note(.documents, "\(database.resourceName): \(state)")
        }
      }
    }
    return opened.documents.session
  }

  /// Takes a call into the session's order.
  func submit(
    _ call: @escaping CallBuffer<DocumentSession>.Call,
    failed: @escaping @Sendable (any Error) -> Void
  ) {
    open()
    buffer.submit(call, failed: failed)
  }

  /// Takes a call into the session's order, however many wait.
  func submit(_ call: @escaping CallBuffer<DocumentSession>.Call) {
    open()
    buffer.submit(call)
  }

  /// Calls the application back, in order.
  func call(_ block: @escaping @Sendable () -> Void) {
    state.withLock { $0.choices.callbackQueue }.async(execute: block)
  }

  /// Hands writes to the session; `ended` hears the server's verdict.
  func write(
    _ mutations: Result<[DocumentMutation], FirestoreArgumentError>,
    _ ended: @escaping @Sendable ((any Error)?) -> Void
  ) {
    switch mutations {
    case .failure(let error): ended(NSError.firestore(error))
    case .success(let mutations):
      submit(
        { session in
          session.write(mutations).end.then { ended($0.map { NSError.firestore($0) }) }
        }, failed: { ended(NSError.firestore($0)) })
    }
  }

  /// Ends what has nothing to write, without a server; a client that was closed says so.
  func settleNothing(_ ended: @escaping @Sendable ((any Error)?) -> Void) {
    submit(
      { ended($0.isClosed ? NSError.firestore(DocumentsError.closed) : nil) },
      failed: { ended(NSError.firestore($0)) })
  }

  /// Hands writes to the session; `completion` hears the server's verdict on the callback queue.
  func write(
    _ mutations: Result<[DocumentMutation], FirestoreArgumentError>,
    _ completion: (((any Error)?) -> Void)?
  ) {
    let callback = Callback<(any Error)?, Void> { error, _ in completion?(error) }
    write(mutations) { [self] error in call { callback(error, ()) } }
  }

  /// Hands writes to the session and waits for the server's verdict.
  func acknowledged(
    _ mutations: Result<[DocumentMutation], FirestoreArgumentError>
  ) async throws {
    let answer = Promise<(any Error)?>()
    write(mutations) { answer.resolve($0) }
    let cancelled = NSError.firestore(DocumentsError.cancelled)
    if let error = await answer.value(ifCancelled: cancelled) { throw error }
  }

  /// Allows or stops traffic.
  func setNetwork(
    isEnabled: Bool, _ done: @escaping @Sendable ((any Error)?) -> Void
  ) {
    submit(
      { session in
        session.setNetwork(isEnabled: isEnabled)
        done(session.isClosed ? NSError.firestore(DocumentsError.closed) : nil)
      }, failed: { done(NSError.firestore($0)) })
  }

  /// Calls `done` when the server has answered every write that waits now.
  func settled(_ done: @escaping @Sendable ((any Error)?) -> Void) {
    submit(
      { session in
        if session.isClosed { return done(NSError.firestore(DocumentsError.closed)) }
        session.waitForPendingWrites { isCancelled in
          done(isCancelled ? NSError.firestore(DocumentsError.cancelled) : nil)
        }
      }, failed: { done(NSError.firestore($0)) })
  }
}
