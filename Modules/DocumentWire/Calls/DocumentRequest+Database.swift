extension DocumentRequest {
  /// Returns the name of the database that the first message of a call is about,
  /// `projects/P/databases/D`, and reads nothing else.
  ///
  /// Every request names it in its field 1: as a database, or within the name of a document or of
  /// what is above one. The name is not checked.
  ///
  /// A server of several shards routes a call by it before anything is decoded.
  ///
  /// - Returns: `nil` for a message whose field 1 names none, and for one of more than
  ///   ``DocumentWireLimits/requestBytes``.
  /// - Complexity: O(*n*) in the fields before it, whatever is in them.
  package static func databaseName(in message: [UInt8], of method: DocumentMethod) -> String? {
    guard message.count <= DocumentWireLimits.requestBytes,
      let name = try? firstName(in: message, of: method)
    else { return nil }
    return DocumentNames.databaseName(in: name)
  }

  /// - Throws: ``DocumentWireError`` for bytes that are no message up to the field.
  private static func firstName(
    in message: [UInt8], of method: DocumentMethod
  ) throws(DocumentWireError) -> String? {
    var reader = ProtoReader(message)
    guard try skip(to: 1, of: &reader) else { return nil }
    if method != .updateDocument { return try reader.string() }
    // The document itself, whose name is its field 1.
    var document = try reader.message()
    return try skip(to: 1, of: &document) ? try document.string() : nil
  }

  /// Moves to the first field of that number.
  ///
  /// - Returns: False when there is no such field.
  private static func skip(
    to wanted: Int, of reader: inout ProtoReader
  ) throws(DocumentWireError) -> Bool {
    while let field = try reader.next() {
      if field == wanted { return true }
      try reader.skip()
    }
    return false
  }
}
