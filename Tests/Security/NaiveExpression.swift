import TernCore
import TernSecurity

/// An expression evaluated the obvious way, against whole trees, to compare the real thing with.
indirect enum NaiveExpression {
  case value(NaiveValue)
  case variable(String)
  case unary(String, NaiveExpression)
  case binary(String, NaiveExpression, NaiveExpression)
  case choice(NaiveExpression, NaiveExpression, NaiveExpression)
  case member(NaiveExpression, String)
  case element(NaiveExpression, NaiveExpression)
  case call(NaiveExpression, String, [NaiveExpression])
  case list([NaiveExpression])
  case pattern(NaivePattern, String)
}

enum NaiveValue {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  case object
  case claims(JSONValue)
  case snapshot(isProposed: Bool, path: [String])
}

/// The rule is false as a whole.
struct NaiveMistake: Error {}

/// The scope of an expression.
struct NaiveScope {
  var auth: JSONValue
  var now: Double
  var before: TreeNode
  var after: TreeNode
  var place: [String]
  var captures: [String: String]
  var query = NaiveQuery.none
}

extension NaiveExpression {
  func evaluate(_ scope: NaiveScope) throws(NaiveMistake) -> NaiveValue {
    switch self {
    case .value(let value): return value
    case .variable("auth"): return NaiveValue(scope.auth)
    case .variable("now"): return .number(scope.now)
    case .variable("root"): return .snapshot(isProposed: false, path: [])
    case .variable("data"): return .snapshot(isProposed: false, path: scope.place)
    case .variable("newData"): return .snapshot(isProposed: true, path: scope.place)
    case .member(.variable("query"), let name): return scope.query.value(name)
    case .variable(let name): return .text(scope.captures[name] ?? "?")
    case .unary("!", let operand): return .bool(!(try operand.bool(scope)))
    case .unary(_, let operand): return .number(-(try operand.number(scope)))
    case .binary("&&", let left, let right):
      return .bool(try left.bool(scope) ? try right.bool(scope) : false)
    case .binary("||", let left, let right):
      return .bool(try left.bool(scope) ? true : try right.bool(scope))
    case .binary(let name, let left, let right):
      return try Self.operate(name, left.evaluate(scope), right.evaluate(scope))
    case .choice(let condition, let then, let otherwise):
      return try condition.bool(scope) ? then.evaluate(scope) : otherwise.evaluate(scope)
    case .member(let value, let name): return try Self.member(value.evaluate(scope), name)
    case .element(let value, let index):
      let value = try value.evaluate(scope)
      let name = try index.evaluate(scope)
      switch name {
      case .text(let text): return value.claim(text)
      case .number(let number): return value.claim(NaiveValue.text(of: number))
      default: throw NaiveMistake()
      }
    case .call(let receiver, let method, let arguments):
      let receiver = try receiver.evaluate(scope)
      if case .snapshot(let isProposed, let path) = receiver {
        return try Self.ask(isProposed, path, method, arguments, scope)
      }
      guard case .text(let text) = receiver else { throw NaiveMistake() }
      return try Self.ask(text, method, arguments, scope)
    case .list, .pattern: throw NaiveMistake()
    }
  }

  func bool(_ scope: NaiveScope) throws(NaiveMistake) -> Bool {
    guard case .bool(let value) = try evaluate(scope) else { throw NaiveMistake() }
    return value
  }

  func number(_ scope: NaiveScope) throws(NaiveMistake) -> Double {
    guard case .number(let value) = try evaluate(scope) else { throw NaiveMistake() }
    return value
  }

  func text(_ scope: NaiveScope) throws(NaiveMistake) -> String {
    guard case .text(let value) = try evaluate(scope) else { throw NaiveMistake() }
    return value
  }

  private static func operate(
    _ name: String, _ left: NaiveValue, _ right: NaiveValue
  ) throws(NaiveMistake) -> NaiveValue {
    switch (name, left, right) {
    case ("==", _, _), ("===", _, _): return .bool(try equal(left, right))
    case ("!=", _, _), ("!==", _, _): return .bool(!(try equal(left, right)))
    case ("+", .number(let a), .number(let b)): return .number(a + b)
    case ("+", .text(let a), .text(let b)): return .text(a + b)
    case ("+", .text(let a), .number(let b)): return .text(a + NaiveValue.text(of: b))
    case ("+", .number(let a), .text(let b)): return .text(NaiveValue.text(of: a) + b)
    case ("-", .number(let a), .number(let b)): return .number(a - b)
    case ("*", .number(let a), .number(let b)): return .number(a * b)
    case ("/", .number(let a), .number(let b)): return .number(b == 0 ? .nan : a / b)
    case ("%", .number(let a), .number(let b)):
      return .number(b == 0 ? .nan : a - b * (a / b).rounded(.towardZero))
    case ("<", .number(let a), .number(let b)): return .bool(a < b)
    case ("<=", .number(let a), .number(let b)): return .bool(a <= b)
    case (">", .number(let a), .number(let b)): return .bool(a > b)
    case (">=", .number(let a), .number(let b)): return .bool(a >= b)
    case ("<", .text(let a), .text(let b)): return .bool(Array(a.utf16).isBefore(Array(b.utf16)))
    case (">", .text(let a), .text(let b)): return .bool(Array(b.utf16).isBefore(Array(a.utf16)))
    case ("<=", .text(let a), .text(let b)): return .bool(!Array(b.utf16).isBefore(Array(a.utf16)))
    case (">=", .text(let a), .text(let b)): return .bool(!Array(a.utf16).isBefore(Array(b.utf16)))
    default: throw NaiveMistake()
    }
  }

  private static func equal(
    _ left: NaiveValue, _ right: NaiveValue
  ) throws(NaiveMistake) -> Bool {
    switch (left, right) {
    case (.null, .null): return true
    case (.bool(let a), .bool(let b)): return a == b
    case (.number(let a), .number(let b)): return a == b
    case (.text(let a), .text(let b)): return Array(a.utf8) == Array(b.utf8)
    case (.object, .object), (.object, .claims), (.claims, .object), (.claims, .claims):
      throw NaiveMistake()
    default: return false
    }
  }

  private static func member(
    _ value: NaiveValue, _ name: String
  ) throws(NaiveMistake) -> NaiveValue {
    if name == "length" {
      if case .text(let text) = value { return .number(Double(text.utf16.count)) }
      guard case .claims = value else { throw NaiveMistake() }
    }
    return value.claim(name)
  }
}

extension NaiveExpression {
  private static func ask(
    _ isProposed: Bool, _ path: [String], _ method: String, _ arguments: [NaiveExpression],
    _ scope: NaiveScope
  ) throws(NaiveMistake) -> NaiveValue {
    let root = isProposed ? scope.after : scope.before
    let node = root.naiveNode(path)
    func below(_ argument: NaiveExpression) throws(NaiveMistake) -> [String] {
      path + (try argument.text(scope)).split(separator: "/").map(String.init)
    }
    switch method {
    case "val": return node.scalar.map(NaiveValue.init) ?? (node.isEmpty ? .null : .object)
    case "exists": return .bool(!node.isEmpty)
    case "isNumber": if case .number? = node.scalar.map(NaiveValue.init) { return .bool(true) }
    case "isString": if case .string? = node.scalar { return .bool(true) }
    case "isBoolean": if case .bool? = node.scalar { return .bool(true) }
    case "getPriority": return node.priority.map(NaiveValue.init) ?? .null
    case "parent":
      if path.isEmpty { throw NaiveMistake() }
      return .snapshot(isProposed: isProposed, path: path.dropLast())
    case "child": return .snapshot(isProposed: isProposed, path: try below(arguments[0]))
    case "hasChild": return .bool(!root.naiveNode(try below(arguments[0])).isEmpty)
    default:
      guard let argument = arguments.first else { return .bool(node.childCount > 0) }
      guard case .list(let names) = argument else { throw NaiveMistake() }
      var all = true
      for name in names where root.naiveNode(try below(name)).isEmpty { all = false }
      return .bool(all)
    }
    return .bool(false)
  }

  private static func ask(
    _ text: String, _ method: String, _ arguments: [NaiveExpression], _ scope: NaiveScope
  ) throws(NaiveMistake) -> NaiveValue {
    if method == "toLowerCase" { return .text(text.lowercased()) }
    if method == "toUpperCase" { return .text(text.uppercased()) }
    if case .pattern(let pattern, let flags)? = arguments.first {
      return .bool(pattern.matches(text, ignoringCase: flags == "i"))
    }
    let bytes = Array(text.utf8)
    let part = Array((try arguments[0].text(scope)).utf8)
    switch method {
    case "beginsWith": return .bool(bytes.starts(with: part))
    case "endsWith": return .bool(Array(bytes.suffix(part.count)) == part)
    case "contains":
      return .bool((0...bytes.count).contains { bytes[$0...].starts(with: part) })
    default:
      let new = Array((try arguments[1].text(scope)).utf8)
      var rest = bytes[...]
      var result: [UInt8] = []
      while let first = rest.first {
        if !part.isEmpty, rest.starts(with: part) {
          result += new
          rest = rest.dropFirst(part.count)
        } else {
          result.append(first)
          rest = rest.dropFirst()
        }
      }
      return .text(String(decoding: result, as: UTF8.self))
    }
  }
}

extension NaiveValue {
  init(_ scalar: TreeScalar) {
    switch scalar {
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .number(Double(value))
    case .double(let value): self = .number(value)
    case .string(let value): self = .text(value)
    case .serverValue: self = .object
    }
  }

  init(_ claims: JSONValue) {
    switch claims {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .number(Double(value))
    case .double(let value): self = .number(value)
    case .string(let value): self = .text(value)
    case .array, .object: self = .claims(claims)
    }
  }

  func claim(_ name: String) -> NaiveValue {
    guard case .claims(let claims) = self else { return .null }
    if case .object(let members) = claims {
      for member in members where Array(member.name.utf8) == Array(name.utf8) {
        return NaiveValue(member.value)
      }
    }
    if case .array(let elements) = claims {
      for (index, element) in elements.enumerated() where "\(index)" == name {
        return NaiveValue(element)
      }
    }
    return .null
  }

  /// The number as JavaScript writes it, for numbers of everyday size.
  static func text(of number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number == 0 { return "0" }
    if number.rounded() == number, abs(number) < 1e15 { return "\(Int64(number))" }
    return "\(number)"
  }
}

extension TreeNode {
  func naiveNode(_ path: [String]) -> TreeNode {
    guard let first = path.first else { return self }
    guard let key = try? TreeKey(first) else { return .empty }
    return child(key).naiveNode(Array(path.dropFirst()))
  }
}

extension [UInt16] {
  fileprivate func isBefore(_ other: [UInt16]) -> Bool { lexicographicallyPrecedes(other) }
}
