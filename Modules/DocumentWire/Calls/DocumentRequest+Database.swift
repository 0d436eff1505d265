extension DocumentRequest {
  /// Returns the name of the database that the first message of a call is about,
  /// `projects/P/databases/D`, and reads nothing else.
  ///
  /// Every request names it in its field 1: as a database, or within the name of a document or of
  /// what is above one. The name is not checked.
  /// - Returns: `nil` for a message that names none.
  /// - Complexity: O(*n*) in the fields of the message, whatever is in them.
  package static func databaseName(in message: [UInt8], of method: DocumentMethod) -> String? {
    guard let name = try? firstName(in: message, of: method) else { return nil }
    return DocumentNames.databaseName(in: name)
  }

  private static func firstName(
    in message: [UInt8], of method: DocumentMethod
  ) throws(DocumentWireError) -> String? {
    var reader = ProtoReader(message)
    var name: String?
    while let field = try reader.next() {
      if field != 1 {
        try reader.skip()
      } else if method == .updateDocument {
        // The document itself, whose name is its field 1.
        var document = try reader.message()
        while let field = try document.next() {
          if field == 1 { name = try document.string() } else { try document.skip() }
        }
      } else {
        name = try reader.string()
      }
    }
    return name
  }
}
