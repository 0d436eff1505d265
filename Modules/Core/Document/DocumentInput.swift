/// The input of an application's write: values, with sentinels among them.
public enum DocumentInput: Hashable, Sendable {
  /// A value as it is; a map in it holds no sentinels.
  case value(DocumentValue)
  /// Fields by name; of fields with one name the last one counts.
  indirect case map([Field])
  /// Elements in order.
  indirect case array([DocumentInput])
  /// The field is to go.
  case delete
  /// The field is to be computed.
  case transform(DocumentTransform)

  /// One field of a map.
  public struct Field: Hashable, Sendable {
    /// The name, not a path: dots are part of it.
    public let name: String
    /// The value or sentinel to write at the path.
    public let input: DocumentInput

    /// Names what is written.
    public init(_ name: String, _ input: DocumentInput) {
      self.name = name
      self.input = input
    }
  }
}

extension DocumentInput: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .value(.string(value)) }
  public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
  public init(floatLiteral value: Double) { self = .value(.double(value)) }
  public init(booleanLiteral value: Bool) { self = .value(.boolean(value)) }
  public init(arrayLiteral elements: DocumentInput...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, DocumentInput)...) {
    self = .map(elements.map { Field($0.0, $0.1) })
  }
}
