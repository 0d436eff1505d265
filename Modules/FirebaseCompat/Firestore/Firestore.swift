import Foundation
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

  /// The app the database belongs to; `nil` for one that belongs to none.
  let owner: FirebaseApp?
  let database: DocumentDatabase
  let ambient: RuntimeEnvironment
  let calls: FirestoreCalls
  /// Returns true when the settings lead to a transport that can encrypt.
  let canEncrypt: @Sendable (FirestoreChoices) -> Bool

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
    calls = FirestoreCalls(database, opening: opening)
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
    guard let opened = try await calls.opened() else {
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
