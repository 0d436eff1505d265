extension DocumentGeoPoint: CustomStringConvertible {
  /// Degrees north and east.
  public var description: String { "\(latitude), \(longitude)" }
}

extension DocumentDatabase: CustomStringConvertible {
  /// The name that the protocols use.
  public var description: String { resourceName }
}

extension DocumentName: CustomStringConvertible {
  /// The name that the protocols use.
  public var description: String { resourceName }
}

extension Document: CustomStringConvertible {
  /// The key and the fields; `null` for a document that does not exist.
  public var description: String { "\(key.text): \(json())" }

  /// The fields as a JSON object; `null` for a document that does not exist.
  public func json() -> String { fields.map { $0.map.json() } ?? "null" }
}

extension DocumentMutation: CustomStringConvertible {
  /// The kind of write and the key.
  public var description: String {
    switch change {
    case .delete: "delete \(key.text)"
    case .verify: "verify \(key.text)"
    case .set: "set \(key.text)"
    case .patch: "update \(key.text)"
    }
  }
}
