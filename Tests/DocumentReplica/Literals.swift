public import TernCore

extension DocumentKey: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension DocumentFieldPath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(unchecked: text.split(separator: ".").map(String.init))
  }
}
