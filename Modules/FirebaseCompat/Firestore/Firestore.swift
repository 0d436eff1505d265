import Foundation
import Synchronization
public import TernClient
package import TernCore
import TernDocumentReplica
import TernQuery
package import TernSync

/// The documents of a database under Firebase's names.
///
/// Settings can be changed until the first operation; that opens the database. A mistake in a path,
/// a value or a query is told by the operation that uses it, with the code
/// ``FirestoreErrorCode/invalidArgument`` and before anything is written or sent.
public final class Firestore: Sendable {
  /// Opens the documents as they were chosen.
  package typealias Opening =
    @Sendable (FirestoreChoices, _ isOffline: Bool) async throws -> OpenedDocuments

  struct State {
    var choices = FirestoreChoices()
    var isFrozen = false
    var isTerminated = false
    var opened: OpenedDocuments?
  }

  /// The app the database belongs to; `nil` for one that belongs to none.
  let owner: FirebaseApp?
  let database: DocumentDatabase
  let ambient: RuntimeEnvironment
  let opening: Opening
  /// Returns true when the settings lead to a transport that can encrypt.
  let canEncrypt: @Sendable (FirestoreChoices) -> Bool
  let lane = CallBuffer<DocumentSession> { limit in
    FirestoreErrorCode.resourceExhausted.error("More than \(limit) calls wait.")
  }
  let state = Mutex(State())

  /// Makes a database that `opening` opens at its first use.
  package init(
    database: DocumentDatabase, ambient: RuntimeEnvironment = .system, owner: FirebaseApp? = nil,
    canEncrypt: @escaping @Sendable (FirestoreChoices) -> Bool = { _ in true },
    opening: @escaping Opening
  ) {
    self.database = database
    self.ambient = ambient
    self.owner = owner
    self.canEncrypt = canEncrypt
    self.opening = opening
  }

  /// A collection, by its path.
  public func collection(_ collectionPath: String) -> CollectionReference {
    CollectionReference(self, path: collectionPath)
  }

  /// A document, by its path.
  public func document(_ documentPath: String) -> DocumentReference {
    DocumentReference(self, path: documentPath)
  }

  /// All collections of an id, at any depth.
  public func collectionGroup(_ collectionID: String) -> Query {
    Query(
      self,
      Result { () throws(FirestoreArgumentError) in
        try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
          try .group(collectionID)
        }
      })
  }

  /// Gathers writes that are made together or not at all.
  public func batch() -> WriteBatch { WriteBatch(self) }

  /// The native documents underneath; they have what Firebase's names do not.
  public func native() async throws -> Documents {
    open()
    _ = try await lane.session()
    guard let opened = state.withLock({ $0.opened }) else {
      throw NSError.firestore(DocumentsError.closed)
    }
    return opened.documents
  }
}

/// Documents that were opened, and how they are closed.
package struct OpenedDocuments: Sendable {
  package let documents: Documents
  package let close: @Sendable () async -> Void

  package init(documents: Documents, close: @escaping @Sendable () async -> Void) {
    self.documents = documents
    self.close = close
  }
}

// MARK: - What references need

extension Firestore {
  /// Opens the database, once.
  func open() {
    let choices: FirestoreChoices? = state.withLock { state in
      guard !state.isFrozen else { return nil }
      state.isFrozen = true
      return state.choices
    }
    guard let choices else { return }
    let opening = opening
    lane.open { [self] in
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
  }

  /// Takes a call into the session's order.
  func submit(
    _ call: @escaping CallBuffer<DocumentSession>.Call,
    failed: @escaping @Sendable (any Error) -> Void
  ) {
    open()
    lane.submit(call, failed: failed)
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

  /// An id for a new document.
  func nextID() -> String { DocumentIDGenerator.next(randomBits: ambient.randomBits) }

  /// The document a reference value leads to.
  func document(named name: DocumentName) -> DocumentReference {
    guard name.database == database else {
      return DocumentReference(self, key: .failure(.foreignDocument(name.key.text)), name.key.text)
    }
    return DocumentReference(self, key: .success(name.key), name.key.text)
  }
}
