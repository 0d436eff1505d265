import TernClient
import TernCore
import TernQuery

/// A document's location, whether it exists or not.
public final class DocumentReference: Sendable {
  /// The database of the document.
  public let firestore: Firestore
  /// The path; as it was given when it is not one of a document.
  public let path: String
  let key: Result<DocumentKey, FirestoreArgumentError>

  init(_ firestore: Firestore, key: Result<DocumentKey, FirestoreArgumentError>, _ path: String) {
    self.firestore = firestore
    self.key = key
    self.path = path
  }

  convenience init(_ firestore: Firestore, path: String) {
    let key = Result { () throws(FirestoreArgumentError) in
      try FirestoreArgumentError.naming { () throws(DocumentError) in try DocumentKey(path) }
    }
    self.init(firestore, key: key, (try? key.get())?.text ?? path)
  }

  /// The last part of the path.
  public var documentID: String { path.split(separator: "/").last.map(String.init) ?? "" }

  /// The collection the document is in.
  public var parent: CollectionReference {
    let segments = path.split(separator: "/").dropLast()
    return CollectionReference(firestore, path: segments.joined(separator: "/"))
  }

  /// A collection below the document.
  public func collection(_ collectionPath: String) -> CollectionReference {
    CollectionReference(firestore, path: path + "/" + collectionPath)
  }

  /// The document and its database, as a value.
  func name() throws(FirestoreArgumentError) -> DocumentName {
    DocumentName(try key.get(), in: firestore.database)
  }

  /// The key, for an operation of a database.
  func key(in firestore: Firestore) throws(FirestoreArgumentError) -> DocumentKey {
    guard firestore.database == self.firestore.database else { throw .foreignDocument(path) }
    return try key.get()
  }

  /// The query for the document alone.
  var query: Query { Query(firestore, key.map { .document($0) }) }
}

extension DocumentReference: Hashable, CustomStringConvertible {
  public static func == (left: DocumentReference, right: DocumentReference) -> Bool {
    left.firestore === right.firestore && left.path == right.path
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(firestore))
    hasher.combine(path)
  }

  public var description: String { path }
}
