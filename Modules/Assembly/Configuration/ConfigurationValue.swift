/// One value of a configuration, before the part it belongs to has read it.
///
/// Configurations written in Swift use literals: `["kind": "sqlite", "path": "data"]`.
public enum ConfigurationValue: Hashable, Sendable {
  /// No value.
  case null
  /// A boolean.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A number with a fraction or an exponent.
  case double(Double)
  /// A string that was written as one: it is never read as a number or a boolean.
  case string(String)
  /// Text from the environment or a flag: the key that reads it decides what it means.
  case text(String)
  /// A list of values.
  case array([ConfigurationValue])
  /// Values by their keys.
  case object([String: ConfigurationValue])
}

extension ConfigurationValue {
  /// The members of an object; empty for every other value.
  public var members: [String: ConfigurationValue] {
    if case .object(let members) = self { members } else { [:] }
  }

  /// The string of a ``string(_:)`` or a ``text(_:)``; `nil` for every other value.
  public var stringValue: String? {
    switch self {
    case .string(let value), .text(let value): value
    case .null, .bool, .integer, .double, .array, .object: nil
    }
  }

  /// The type of this value, in the words of an error message.
  package var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .double: "a number"
    case .string: "a string"
    case .text(let text): "\"\(text)\""
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension ConfigurationValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: ConfigurationValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, ConfigurationValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}

extension ConfigurationValue {
  /// The same text for values that say the same, whether typed or written in a file.
  package var canonicalText: String {
    switch self {
    case .null: "null"
    case .bool(let value): String(value)
    case .integer(let value): String(value)
    case .double(let value): String(value)
    case .string(let text), .text(let text): text
    case .array(let elements): "[" + elements.map(\.canonicalText).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }
        .map { $0.key + "=" + $0.value.canonicalText }
        .joined(separator: ",") + "}"
    }
  }
}
