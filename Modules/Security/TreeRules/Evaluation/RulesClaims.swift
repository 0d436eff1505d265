import TernCore

/// Who asks: the JSON that rules see as `auth`.
///
/// Names of members are compared by their bytes. Unlike the tree, claims keep empty objects and
/// lists, and their names may hold any character.
public enum RulesClaims: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  case list([RulesClaims])
  case object([Member])

  /// One named claim.
  public struct Member: Sendable {
    public let name: String
    public let value: RulesClaims

    public init(_ name: String, _ value: RulesClaims) {
      self.name = name
      self.value = value
    }
  }

  /// The member called `name`; `null` when there is none. A list has members "0", "1", ….
  public subscript(name: String) -> RulesClaims {
    switch self {
    case .object(let members):
      return members.first { $0.name.hasSameBytes(as: name) }?.value ?? .null
    case .list(let elements):
      guard let index = TreeKey(unchecked: name).integer, elements.indices.contains(Int(index)),
        "\(index)" == name
      else { return .null }
      return elements[Int(index)]
    case .null, .bool, .integer, .double, .string: return .null
    }
  }
}

extension RulesClaims: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
  ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  public init(dictionaryLiteral members: (String, RulesClaims)...) {
    self = .object(members.map { Member($0.0, $0.1) })
  }
  public init(arrayLiteral elements: RulesClaims...) { self = .list(elements) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
}
