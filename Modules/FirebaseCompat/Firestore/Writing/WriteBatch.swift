import Foundation
import Synchronization
import TernClient
import TernCore

/// Writes that are made together or not at all, once; a write after the commit ends the program.
public final class WriteBatch: Sendable {
  private struct State {
    var mutations: [DocumentMutation] = []
    /// The first mistake; the commit fails with it.
    var problem: FirestoreArgumentError?
    var isCommitted = false
  }

  private let firestore: Firestore
  private let state = Mutex(State())

  init(_ firestore: Firestore) { self.firestore = firestore }

  /// Replaces a document, or makes it.
  @discardableResult
  public func setData(
    _ data: [String: Any], forDocument document: DocumentReference
  ) -> WriteBatch {
    setData(data, forDocument: document, merge: false)
  }

  /// Writes the fields that are named, and leaves the others if `merge` is set.
  @discardableResult
  public func setData(
    _ data: [String: Any], forDocument document: DocumentReference, merge: Bool
  ) -> WriteBatch {
    add { () throws(FirestoreArgumentError) in
      try .setting(data, document, of: firestore, merge: merge)
    }
  }

  /// Writes these of the fields, and leaves the others.
  @discardableResult
  public func setData(
    _ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]
  ) -> WriteBatch {
    add { () throws(FirestoreArgumentError) in
      try .setting(data, document, of: firestore, mergeFields: mergeFields)
    }
  }

  /// Writes single fields of a document that must exist.
  @discardableResult
  public func updateData(
    _ fields: [AnyHashable: Any], forDocument document: DocumentReference
  ) -> WriteBatch {
    add { () throws(FirestoreArgumentError) in
      try .updating(fields, document, of: firestore)
    }
  }

  /// Deletes a document.
  @discardableResult
  public func deleteDocument(_ document: DocumentReference) -> WriteBatch {
    add { () throws(FirestoreArgumentError) in .delete(try document.key(in: firestore)) }
  }

  /// Makes the writes.
  public func commit() { commit(completion: nil) }

  /// The same; `completion` hears the server's verdict.
  public func commit(completion: (((any Error)?) -> Void)?) {
    let callback = Callback<(any Error)?, Void> { error, _ in completion?(error) }
    let firestore = firestore
    commit { error in firestore.calls.call { callback(error, ()) } }
  }

  /// The same; returns when the server has them.
  public func commit() async throws {
    let answer = Promise<(any Error)?>()
    commit { answer.resolve($0) }
    let cancelled = NSError.firestore(DocumentsError.cancelled)
    if let error = await answer.value(ifCancelled: cancelled) { throw error }
  }

  private func add(
    _ make: () throws(FirestoreArgumentError) -> DocumentMutation
  ) -> WriteBatch {
    let made = Result { () throws(FirestoreArgumentError) in try make() }
    let isCommitted = state.withLock { state in
      switch made {
      case .success(let mutation): state.mutations.append(mutation)
      case .failure(let error): state.problem = state.problem ?? error
      }
      return state.isCommitted
    }
    if isCommitted { Misuse.committedBatch() }
    return self
  }

  func adding(_ make: (Firestore) throws -> DocumentMutation) throws -> WriteBatch {
    let mutation = try make(firestore)
    return add { () throws(FirestoreArgumentError) in mutation }
  }

  private func commit(_ ended: @escaping @Sendable ((any Error)?) -> Void) {
    let writes: Result<[DocumentMutation], FirestoreArgumentError>? = state.withLock { state in
      if state.isCommitted { return nil }
      state.isCommitted = true
      return state.problem.map { .failure($0) } ?? .success(state.mutations)
    }
    switch writes {
    case nil:
      ended(FirestoreErrorCode.failedPrecondition.error("A batch can be committed only once."))
    case .success([]): firestore.calls.settleNothing(ended)
    case let writes?: firestore.calls.write(writes, ended)
    }
  }
}
