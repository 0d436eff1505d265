public import TernCore

extension TreeKey: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension TreePath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(unchecked: text.split(separator: "/").map { TreeKey(unchecked: String($0)) })
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
  ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral
{
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(members.map { Member($0.0, $0.1) })
  }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
}
