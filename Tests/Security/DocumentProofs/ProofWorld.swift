import TernCore
import TernQuery
import TernTestKit

@testable import TernSecurity

/// Random rules, queries and documents that have to do with each other.
struct ProofWorld {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private static let names = ["f", "g", "m"]

  private static let values: [(rule: String, value: DocumentValue)] = [
    ("0", .integer(0)), ("1", .integer(1)), ("1.0", .double(1)), ("2", .integer(2)),
    ("0.5", .double(0.5)), ("'a'", .string("a")), ("'b'", .string("b")), ("''", .string("")),
    ("true", .boolean(true)), ("false", .boolean(false)), ("null", .null),
    ("['a']", .array([.string("a")])), ("['a', 1]", .array([.string("a"), .integer(1)])),
    ("{'a': 1}", .map(DocumentMap([("a", .integer(1))]))),
    ("{'a': 'b'}", .map(DocumentMap([("a", .string("b"))]))),
  ]

  private static let strange: [DocumentValue] = [
    .double(.nan), .double(-0.0), .double(.infinity), .integer(.max), .bytes([1]),
    .array([.double(1)]), .map(DocumentMap()), .vector([1]),
    .timestamp(DocumentTimestamp(uncheckedMicroseconds: 5)),
  ]

  private mutating func pick<T>(_ all: [T]) -> T {
    all[Int.random(in: 0..<all.count, using: &random)]
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  private mutating func value() -> DocumentValue {
    chance(85) ? pick(Self.values).value : pick(Self.strange)
  }

  private mutating func literal() -> String { pick(Self.values).rule }

  // MARK: - Rules

  /// A file with one to three statements for lists of the collection `c`.
  mutating func rules() -> String {
    let allows = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      "allow \(pick(["list", "read"])): if \(condition(3));"
    }
    let path = pick(["/c/{d}", "/c/{d}", "/{p=**}/c/{d}", "/{p=**}", "/c/x"])
    return """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{database}/documents {
          function same(a, b) { let c = a; return c == b; }
          function known(x) { return x != null; }
          function open(x) { return x == 'x' || request.auth.uid == 'a'; }
          function late(x, y) { let z = x; return z == 'x' || y == 1; }
          function either(x) { return open(x) && (x is string || resource.data.f == 1); }
          match \(path) { \(allows.joined(separator: "\n")) }
          match /c/{other} { allow list: if resource.data.g == 'never'; }
        }
      }
      """
  }

  private mutating func condition(_ depth: Int) -> String {
    guard depth > 0, chance(60) else { return leaf() }
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: return "\(condition(depth - 1)) && \(condition(depth - 1))"
    case 2, 3: return "(\(condition(depth - 1)) || \(condition(depth - 1)))"
    case 4: return "!(\(condition(depth - 1)))"
    default:
      return "(\(condition(depth - 1)) ? \(condition(depth - 1)) : \(condition(depth - 1)))"
    }
  }

  private mutating func field() -> String {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: "resource.data.m.a"
    case 1: "resource.data['f']"
    case 2: "resource.data.get('\(pick(Self.names))', \(literal()))"
    case 3: "resource.data.get(['m', 'a'], \(literal()))"
    default: "resource.data.\(pick(Self.names))"
    }
  }

  /// A part of the path, which differs from document to document.
  private mutating func part() -> String {
    pick(["d", "d", "p", "resource.id", "resource.__name__", "request.path", "database"])
  }

  /// The call of a function that receives a part of the path.
  private mutating func callOfPart() -> String {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: "known(\(part()))"
    case 1: "open(\(part()))"
    case 2: "late(\(part()), \(chance(50) ? field() : literal()))"
    case 3: "same(\(part()), \(chance(50) ? part() : literal()))"
    case 4: "open(\(part()) + \(part()))"
    default: "either(\(part()))"
    }
  }

  private mutating func leaf() -> String {
    if chance(15) { return callOfPart() }
    let comparison = pick(["==", "!=", "<", "<=", ">", ">=", "=="])
    let type = pick(["int", "float", "number", "string", "bool", "list", "map", "null"])
    switch Int.random(in: 0..<20, using: &random) {
    case 0: return "\(literal()) \(comparison) \(field())"
    case 1: return "\(field()) in [\(literal()), \(literal())]"
    case 2: return "\(literal()) in \(field())"
    case 3: return "'\(pick(Self.names))' in resource.data"
    case 4: return "resource.data.keys().\(pick(["hasAny", "hasAll", "hasOnly"]))(['f', 'm'])"
    case 5 where type != "null": return "\(field()) is \(type)"
    case 6: return "\(field()).\(pick(["hasAny", "hasAll"]))([\(literal())])"
    case 7: return "request.query.limit <= \(pick(["1", "2", "9"]))"
    case 8: return "same(\(field()), \(literal()))"
    case 9: return "known(\(field()))"
    case 10: return "\(field()) + 1 == 2"
    case 11: return "\(field()).size() == 1"
    case 12: return "exists(/databases/$(database)/documents/acl/$(\(field())))"
    case 13: return pick(["d == 'x'", "resource != null", "resource.id == 'x'", "true", "false"])
    case 14: return "\(field()) == resource.data.\(pick(Self.names))"
    case 15: return "string(\(field())) == '1'"
    case 16: return pick(["request.auth.uid", "request.auth.token.n"]) + " == \(field())"
    default: return "\(field()) \(comparison) \(literal())"
    }
  }

  // MARK: - Queries and documents

  mutating func query() -> DocumentQuery {
    let orders = chance(30) ? [DocumentOrder(path())] : []
    let limit = chance(40) ? (DocumentLimit.Side.first, Int.random(in: 1...3, using: &random)) : nil
    let source: DocumentQuery.Source =
      chance(20) ? .group("c") : .collection(CollectionPath(unchecked: "c"))
    return .assembled(
      source, filter: chance(95) ? filter(2) : nil, orders: orders, limit: limit)
  }

  private mutating func path() -> DocumentFieldPath {
    DocumentFieldPath(unchecked: pick([["f"], ["g"], ["m"], ["m", "a"]]))
  }

  private mutating func filter(_ depth: Int) -> DocumentFilter {
    guard depth > 0, chance(50) else { return comparison() }
    let members = (0..<2).map { _ in filter(depth - 1) }
    return chance(70) ? .and(members) : .or(members)
  }

  private mutating func comparison() -> DocumentFilter {
    let operation = pick(DocumentOperator.allCases + [.equal, .equal, .equal])
    let operand = operation.takesList ? DocumentValue.array([value(), value()]) : value()
    if chance(8) {
      let name = DocumentName(
        DocumentKey(unchecked: "c/x"), in: DocumentDatabase(unchecked: "p"))
      return .where(.key, .equal, .reference(name))
    }
    return .where(path(), operation, operand)
  }

  mutating func document(_ id: String) -> Document {
    var entries: [(String, DocumentValue)] = []
    for name in Self.names where chance(80) {
      entries.append((name, name == "m" && chance(60) ? .map(inner()) : value()))
    }
    return Document(
      DocumentKey(unchecked: "c/\(id)"), .found(DocumentFields(DocumentMap(entries))))
  }

  private mutating func inner() -> DocumentMap {
    chance(80) ? DocumentMap([("a", value())]) : DocumentMap()
  }
}
