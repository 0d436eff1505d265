public import TernCore

extension DocumentKey: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension DocumentFieldPath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(unchecked: text.split(separator: ".").map(String.init))
  }
}

extension CollectionPath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension Document {
  /// A document that exists, of version 1.
  init(_ key: DocumentKey, _ fields: DocumentFields) {
    self.init(key, .found(fields), version: DocumentVersion(microseconds: 1))
  }
}
