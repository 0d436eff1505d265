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
    firestore.calls.write(.success([try .coding(value, encoder, self, of: firestore)]), completion)
  }

  /// Writes the fields of an encoded value, and leaves the others if `merge` is set.
  ///
  /// - Throws: What the encoder finds wrong with the value, before anything is written.
  public func setData<T: Encodable>(
    from value: T, merge: Bool, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (((any Error)?) -> Void)? = nil
  ) throws {
    let mutation = try DocumentMutation.coding(value, encoder, self, of: firestore, merge: merge)
    firestore.calls.write(.success([mutation]), completion)
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

  /// Reads the document once, decoded.
  ///
  /// - Parameter serverTimestampBehavior: The value of times that the server has not set yet.
  /// - Throws: ``FirestoreErrorCode/unavailable`` when the sources that are allowed do not know it,
  ///   and the errors of ``DocumentSnapshot/data(as:with:decoder:)``.
  public func getDocument<T: Decodable>(
    as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
    decoder: Firestore.Decoder = Firestore.Decoder(), source: FirestoreSource = .default
  ) async throws -> T {
    let snapshot = try await getDocument(source: source)
    return try snapshot.data(as: type, with: serverTimestampBehavior, decoder: decoder)
  }

  /// Reads the document once, decoded; `completion` is called with it or with an error.
  public func getDocument<T: Decodable>(
    as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
    decoder: Firestore.Decoder = Firestore.Decoder(), source: FirestoreSource = .default,
    completion: @escaping (Result<T, any Error>) -> Void
  ) {
    getDocument(source: source) { snapshot, error in
      completion(
        Result {
          if let error { throw error }
          guard let snapshot else { throw FirestoreErrorCode.internal.error("Nothing was read.") }
          return try snapshot.data(as: type, with: serverTimestampBehavior, decoder: decoder)
        })
    }
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

  /// Writes these of the fields of an encoded value, and leaves the others.
  ///
  /// - Throws: What the encoder finds wrong with the value, before anything is written.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument document: DocumentReference, mergeFields: [Any],
    encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> WriteBatch {
    setData(try encoder.encode(value), forDocument: document, mergeFields: mergeFields)
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

  /// Writes these of the fields of an encoded value, and leaves the others.
  ///
  /// - Throws: What the encoder finds wrong with the value, before anything is written.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument document: DocumentReference, mergeFields: [Any],
    encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> Transaction {
    setData(try encoder.encode(value), forDocument: document, mergeFields: mergeFields)
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
    let fields: Any = data(with: serverTimestampBehavior) ?? NSNull()
    return try decoder.decode(type, from: fields, in: reference)
  }
}

extension DocumentMutation {
  /// The write of an encoded value.
  fileprivate static func coding(
    _ value: some Encodable, _ encoder: Firestore.Encoder, _ reference: DocumentReference,
    of firestore: Firestore, merge: Bool = false
  ) throws -> DocumentMutation {
    let fields = try encoder.encode(value)
    do throws(FirestoreArgumentError) {
      let mutation = try setting(fields, reference, of: firestore, merge: merge)
      try FirestoreArgumentError.naming { () throws(DocumentError) in
        try mutation.check(in: firestore.database)
      }
      return mutation
    } catch {
      throw NSError.firestore(error)
    }
  }
}
