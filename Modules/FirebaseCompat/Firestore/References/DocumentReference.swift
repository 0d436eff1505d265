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
  public var documentID: String { path.pathSegments.last ?? "" }

  /// The collection the document is in.
  public var parent: CollectionReference {
    let segments = path.pathSegments.dropLast()
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
  /// Returns true when both are the same document; paths are compared by their bytes.
  public static func == (left: DocumentReference, right: DocumentReference) -> Bool {
    left.firestore === right.firestore && left.path.hasSameBytes(as: right.path)
      && left.key == right.key
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(firestore))
    path.hashBytes(into: &hasher)
  }

  public var description: String { path }
}

extension String {
  /// The parts between slashes, by bytes: also where a combining character follows a slash.
  var pathSegments: [String] {
    utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
  }
}
