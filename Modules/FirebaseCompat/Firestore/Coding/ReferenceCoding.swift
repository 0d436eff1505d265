// What only Firestore's coders can code.

extension DocumentReference: Codable {
  /// - Throws: Always: only ``Firestore/Decoder`` knows the database.
  public convenience init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: decoder.codingPath,
        debugDescription: "a DocumentReference is decoded by Firestore.Decoder"))
  }

  /// - Throws: Always: only ``Firestore/Encoder`` can encode it.
  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self,
      .init(
        codingPath: encoder.codingPath,
        debugDescription: "a DocumentReference is encoded by Firestore.Encoder"))
  }
}

extension FieldValue: Encodable {
  /// - Throws: Always: only ``Firestore/Encoder`` can encode it.
  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self,
      .init(
        codingPath: encoder.codingPath,
        debugDescription: "a FieldValue is encoded by Firestore.Encoder"))
  }
}
