import Foundation
import TernCore
import TernSecurity

/// Any JSON, for tests that read some.
enum JSONValue: Decodable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case list([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .list(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// The text of a string as JSON; other values are not needed.
  var text: String {
    guard case .string(let value) = self else { return "null" }
    var text = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"", "\\": text += "\\\(scalar)"
      case "\u{00}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }

  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  var integer: Int? { if case .number(let value) = self { Int(exactly: value) } else { nil } }

  var node: TreeNode {
    switch self {
    case .null, .list: .empty
    case .bool(let value): TreeNode(.bool(value))
    case .number(let value):
      TreeNode(Int64(exactly: value).map { .integer($0) } ?? .double(value))
    case .string(let value): TreeNode(.string(value))
    case .object(let members):
      TreeNode(
        children: ChildMap(
          unsorted: members.compactMap { name, value in
            (try? TreeKey(name)).map { (key: $0, node: value.node) }
          }))
    }
  }

  var claims: RulesClaims {
    switch self {
    case .null: .null
    case .bool(let value): .bool(value)
    case .number(let value): Int64(exactly: value).map { .integer($0) } ?? .double(value)
    case .string(let value): .string(value)
    case .list(let elements): .list(elements.map(\.claims))
    case .object(let members):
      .object(members.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.claims) })
    }
  }
}
