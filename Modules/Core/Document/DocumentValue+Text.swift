extension DocumentValue: CustomStringConvertible {
  /// The JSON text, see ``json()``.
  public var description: String { json() }

  /// The value as JSON text, in the plain form of Docs/Formats/document-json.md: types that JSON
  /// lacks are objects with one member, which names the type. A time that the server has not set
  /// yet is null.
  public func json() -> String {
    var writer = JSONWriter()
    DocumentValueJSON.readable.write(self, to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension DocumentMap: CustomStringConvertible {
  /// The JSON text, see ``json()``.
  public var description: String { json() }

  /// The fields as a JSON object, as ``DocumentValue/json()`` writes them.
  public func json() -> String {
    var writer = JSONWriter()
    DocumentValueJSON.readable.write(self, to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension DocumentTimestamp: CustomStringConvertible {
  /// The time in UTC, as RFC 3339 writes it.
  public var description: String { TimestampText.text(of: self) }
}

extension DocumentValueJSON {
  /// Writes references whole, with their database.
  fileprivate static let readable = DocumentValueJSON(
    .plain, in: DocumentDatabase(unchecked: ""))
}
