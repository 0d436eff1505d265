// Types that only the coders of documents code.

extension DocumentReference: Codable {
  /// - Throws: ``FirestoreDecodingError/decodingIsNotSupported(_:)``, always: ``Firestore/Decoder``
  ///   does not call it.
  public convenience init(from decoder: any Decoder) throws {
    throw FirestoreDecodingError.decodingIsNotSupported(
      "A DocumentReference is decoded by Firestore.Decoder only.")
  }

  /// - Throws: ``FirestoreEncodingError/encodingIsNotSupported(_:)``, always: ``Firestore/Encoder``
  ///   does not call it.
  public func encode(to encoder: any Encoder) throws {
    throw FirestoreEncodingError.encodingIsNotSupported(
      "A DocumentReference is encoded by Firestore.Encoder only.")
  }
}

extension FieldValue: Encodable {
  /// - Throws: ``FirestoreEncodingError/encodingIsNotSupported(_:)``, always: ``Firestore/Encoder``
  ///   does not call it.
  public func encode(to encoder: any Encoder) throws {
    throw FirestoreEncodingError.encodingIsNotSupported(
      "A FieldValue is encoded by Firestore.Encoder only.")
  }
}
