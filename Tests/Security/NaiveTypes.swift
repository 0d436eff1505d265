/// The types of expressions in a rules file, decided the obvious way: by sets of kinds.
enum NaiveKind {
  case null, bool, number, text, object, claims, snapshot
}

/// The expression is refused.
struct NaiveRefusal: Error {}

extension NaiveExpression {
  private static let scalars: Set<NaiveKind> = [.null, .bool, .number, .text, .object]

  /// Returns the possible kinds; throws when it can never work in a rule of this kind.
  func kinds(isRead: Bool, captures: Set<String>) throws(NaiveRefusal) -> Set<NaiveKind> {
    func kinds(_ other: NaiveExpression) throws(NaiveRefusal) -> Set<NaiveKind> {
      try other.kinds(isRead: isRead, captures: captures)
    }
    func need(_ other: NaiveExpression, _ wanted: Set<NaiveKind>) throws(NaiveRefusal) {
      let all = try kinds(other)
      guard case .choice = other else {
        if all.isDisjoint(with: wanted) { throw NaiveRefusal() }
        return
      }
      for leaf in other.results
      where try kinds(leaf).isDisjoint(with: wanted) { throw NaiveRefusal() }
    }
    switch self {
    case .value(let value): return [try Self.kind(of: value)]
    case .variable("auth"): return Self.scalars.union([.claims])
    case .variable("now"): return [.number]
    case .variable("root"), .variable("data"): return [.snapshot]
    case .variable("newData"):
      if isRead { throw NaiveRefusal() }
      return [.snapshot]
    case .member(.variable("query"), let name):
      guard isRead, let kinds = NaiveQuery.kinds[name] else { throw NaiveRefusal() }
      return kinds
    case .variable(let name):
      if !captures.contains(name) { throw NaiveRefusal() }
      return [.text]
    case .unary("!", let operand):
      try operand.needBoolean(kinds)
      return [.bool]
    case .unary(_, let operand):
      try need(operand, [.number])
      return [.number]
    case .binary("&&", let left, let right), .binary("||", let left, let right):
      try left.needBoolean(kinds)
      try right.needBoolean(kinds)
      return [.bool]
    case .binary(let name, let left, let right):
      return try Self.kinds(of: name, try kinds(left), try kinds(right)) {
        (wanted) throws(NaiveRefusal) in
        try need(left, wanted)
        try need(right, wanted)
      }
    case .choice(let condition, let then, let otherwise):
      try condition.needBoolean(kinds)
      let (a, b) = (try kinds(then), try kinds(otherwise))
      if a.contains(.snapshot) != b.contains(.snapshot) { throw NaiveRefusal() }
      return a.contains(.claims) && b.contains(.claims)
        ? a.union(b) : a.union(b).subtracting([.claims])
    case .member(let value, let name):
      let a = try kinds(value)
      if a.contains(.claims) { return Self.scalars.union([.claims]) }
      if name != "length" || a.contains(.snapshot) { throw NaiveRefusal() }
      try need(value, [.text])
      return [.number]
    case .element(let value, let index):
      if !(try kinds(value)).contains(.claims) { throw NaiveRefusal() }
      try need(index, [.text, .number])
      return Self.scalars.union([.claims])
    case .call(let receiver, let method, let arguments):
      return try callKinds(try kinds(receiver), receiver, method, arguments) {
        (argument) throws(NaiveRefusal) in
        try need(argument, [.text])
      } needReceiver: { (receiver) throws(NaiveRefusal) in
        try need(receiver, [.text])
      }
    case .list, .pattern: throw NaiveRefusal()
    }
  }

  private static func kind(of value: NaiveValue) throws(NaiveRefusal) -> NaiveKind {
    switch value {
    case .null: return .null
    case .bool: return .bool
    case .number: return .number
    case .text: return .text
    default: throw NaiveRefusal()
    }
  }

  /// Itself, and every branch it may end in, is a boolean and never anything else.
  private func needBoolean(
    _ kinds: (NaiveExpression) throws(NaiveRefusal) -> Set<NaiveKind>
  ) throws(NaiveRefusal) {
    _ = try kinds(self)
    for leaf in results where try kinds(leaf) != [.bool] { throw NaiveRefusal() }
  }

  private static func kinds(
    of name: String, _ a: Set<NaiveKind>, _ b: Set<NaiveKind>,
    need: (Set<NaiveKind>) throws(NaiveRefusal) -> Void
  ) throws(NaiveRefusal) -> Set<NaiveKind> {
    switch name {
    case "==", "===", "!=", "!==":
      if a.union(b).contains(.snapshot) { throw NaiveRefusal() }
      return [.bool]
    case "<", "<=", ">", ">=":
      try need([.number, .text])
      if a.intersection(b).isDisjoint(with: [.number, .text]) { throw NaiveRefusal() }
      return [.bool]
    case "+":
      try need([.number, .text])
      if a == [.text] || b == [.text] { return [.text] }
      return a.union(b).contains(.text) ? [.number, .text] : [.number]
    default:
      try need([.number])
      return [.number]
    }
  }

  private func callKinds(
    _ a: Set<NaiveKind>, _ receiver: NaiveExpression, _ method: String,
    _ arguments: [NaiveExpression],
    needText: (NaiveExpression) throws(NaiveRefusal) -> Void,
    needReceiver: (NaiveExpression) throws(NaiveRefusal) -> Void
  ) throws(NaiveRefusal) -> Set<NaiveKind> {
    let methods: [String: (count: Int, result: Set<NaiveKind>)] =
      a.contains(.snapshot)
      ? [
        "val": (0, Self.scalars), "exists": (0, [.bool]), "isNumber": (0, [.bool]),
        "isString": (0, [.bool]), "isBoolean": (0, [.bool]), "parent": (0, [.snapshot]),
        "getPriority": (0, [.null, .number, .text]), "hasChildren": (-1, [.bool]),
        "child": (1, [.snapshot]), "hasChild": (1, [.bool]),
      ]
      : [
        "contains": (1, [.bool]), "beginsWith": (1, [.bool]), "endsWith": (1, [.bool]),
        "replace": (2, [.text]), "toLowerCase": (0, [.text]), "toUpperCase": (0, [.text]),
        "matches": (-2, [.bool]),
      ]
    guard let (count, result) = methods[method] else { throw NaiveRefusal() }
    if !a.contains(.snapshot) { try needReceiver(receiver) }
    switch (count, arguments.first) {
    case (-1, nil): break
    case (-1, .list(let names)?):
      if names.isEmpty || arguments.count != 1 { throw NaiveRefusal() }
      for name in names { try needText(name) }
    case (-2, .pattern(_, let flags)?):
      if arguments.count != 1 || (flags != "" && flags != "i") { throw NaiveRefusal() }
    case (0..., _) where arguments.count == count:
      for argument in arguments { try needText(argument) }
    default: throw NaiveRefusal()
    }
    return result
  }

  /// The branches a `?:` may end in; itself when it is none.
  private var results: [NaiveExpression] {
    if case .choice(_, let then, let otherwise) = self { return then.results + otherwise.results }
    return [self]
  }
}
