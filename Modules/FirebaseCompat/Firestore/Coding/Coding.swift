import Foundation
import TernCore

extension DocumentReference {
  /// Replaces the document by an encoded value, or makes it; `completion` hears the server's
  /// verdict.
  ///
  /// - Throws: What the encoder finds wrong with the value, before anything is written.
  public func setData<T: Encodable>(
    from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (((any Error)?) -> Void)? = nil
  ) throws {
    firestore.write(.success([try .coding(value, encoder, self, of: firestore)]), completion)
  }

  /// Writes the fields of an encoded value, and leaves the others if `merge` is set.
  ///
  /// - Throws: What the encoder finds wrong with the value, before anything is written.
  public func setData<T: Encodable>(
    from value: T, merge: Bool, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (((any Error)?) -> Void)? = nil
  ) throws {
    let mutation = try DocumentMutation.coding(value, encoder, self, of: firestore, merge: merge)
    firestore.write(.success([mutation]), completion)
  }

  /// Writes these of the fields of an encoded value, and leaves the others.
  ///
  /// - Throws: What the encoder finds wrong with the value, before anything is written.
  public func setData<T: Encodable>(
    from value: T, mergeFields: [Any], encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (((any Error)?) -> Void)? = nil
  ) throws {
    setData(try encoder.encode(value), mergeFields: mergeFields, completion: completion)
  }

  /// The document as it is now, decoded.
  public func getDocument<T: Decodable>(
    as type: T.Type, source: FirestoreSource = .default,
    decoder: Firestore.Decoder = Firestore.Decoder()
  ) async throws -> T {
    try await getDocument(source: source).data(as: type, decoder: decoder)
  }
}

extension CollectionReference {
  /// Makes a document of an encoded value, with an id of its own; `completion` hears the server's
  /// verdict.
  ///
  /// - Throws: What the encoder finds wrong with the value, before anything is written.
  @discardableResult
  public func addDocument<T: Encodable>(
    from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (((any Error)?) -> Void)? = nil
  ) throws -> DocumentReference {
    let reference = document()
    try reference.setData(from: value, encoder: encoder, completion: completion)
    return reference
  }
}

extension WriteBatch {
  /// Replaces a document by an encoded value, or makes it; `merge` leaves other fields.
  ///
  /// - Throws: What the encoder finds wrong with the value; the batch is as it was.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument document: DocumentReference, merge: Bool = false,
    encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> WriteBatch {
    try adding { try .coding(value, encoder, document, of: $0, merge: merge) }
  }
}

extension Transaction {
  /// Replaces a document by an encoded value, or makes it; `merge` leaves other fields.
  ///
  /// - Throws: What the encoder finds wrong with the value; the transaction is as it was.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument document: DocumentReference, merge: Bool = false,
    encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> Transaction {
    try adding { try .coding(value, encoder, document, of: $0, merge: merge) }
  }
}

extension DocumentSnapshot {
  /// Decodes the fields; a document that does not exist is `nil` for an optional type.
  ///
  /// - Parameter serverTimestampBehavior: What stands for times the server has not set yet.
  /// - Throws: `DecodingError`, ``FirestoreDecodingError``.
  public func data<T: Decodable>(
    as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
    decoder: Firestore.Decoder = Firestore.Decoder()
  ) throws -> T {
    let value = document?.fields.map { fields in
      DocumentValue.map(fields.map).displayed(serverTimestampBehavior.display)
    }
    return try decoder.decode(
      type, from: value ?? .null, of: reference.firestore, in: reference)
  }
}

extension DocumentMutation {
  /// The write of an encoded value.
  fileprivate static func coding(
    _ value: some Encodable, _ encoder: Firestore.Encoder, _ reference: DocumentReference,
    of firestore: Firestore, merge: Bool = false
  ) throws -> DocumentMutation {
    let fields = try encoder.fields(of: value)
    do throws(FirestoreArgumentError) {
      let key = try reference.key(in: firestore)
      return try FirestoreArgumentError.naming { () throws(DocumentError) in
        let mutation: DocumentMutation =
          merge ? try .merge(key, with: fields) : try .set(key, to: fields)
        try mutation.check(in: firestore.database)
        return mutation
      }
    } catch {
      throw NSError.firestore(error)
    }
  }
}
