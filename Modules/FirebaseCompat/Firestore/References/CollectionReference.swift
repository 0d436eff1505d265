import TernClient
import TernCore
import TernQuery

/// A collection of documents: all of them, as a query, and the way to each.
///
/// - Note: `@unchecked` as its superclass is; sound because what it adds is immutable.
public final class CollectionReference: Query, @unchecked Sendable {
  /// The path, as it was given.
  public let path: String
  let collection: Result<CollectionPath, FirestoreArgumentError>

  init(_ firestore: Firestore, path: String) {
    let collection = Result { () throws(FirestoreArgumentError) in
      try FirestoreArgumentError.naming { () throws(DocumentError) in try CollectionPath(path) }
    }
    self.collection = collection
    self.path = (try? collection.get())?.text ?? path
    super.init(firestore, collection.map { .collection($0) })
  }

  /// The last part of the path.
  public var collectionID: String { path.pathSegments.last ?? "" }

  /// The document the collection is below; `nil` at the top of the database.
  public var parent: DocumentReference? {
    guard let parent = (try? collection.get())?.parent else { return nil }
    return DocumentReference(firestore, key: .success(parent), parent.text)
  }

  /// A document of the collection, by its id or the path below the collection.
  public func document(_ documentPath: String) -> DocumentReference {
    DocumentReference(firestore, path: path + "/" + documentPath)
  }

  /// Returns a document with a random id that is unique.
  public func document() -> DocumentReference { document(firestore.nextID()) }

  /// Makes a document with an id of its own; `completion` hears the server's verdict.
  @discardableResult
  public func addDocument(
    data: [String: Any], completion: (((any Error)?) -> Void)? = nil
  ) -> DocumentReference {
    let reference = document()
    reference.setData(data, completion: completion)
    return reference
  }

  /// Makes a document with an id of its own; returns when the server has it.
  @discardableResult
  public func addDocument(data: [String: Any]) async throws -> DocumentReference {
    let reference = document()
    try await reference.setData(data)
    return reference
  }
}
