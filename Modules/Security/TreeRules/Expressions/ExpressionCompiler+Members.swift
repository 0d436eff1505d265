extension ExpressionCompiler {
  mutating func member(
    _ name: String, of value: Expression, for source: Expression
  ) throws(RulesSyntaxError) -> Int {
    if case .variable("query") = value.kind { return try queryMember(name, for: source) }
    let value = try compile(value)
    let type = type(of: value)
    if type.contains(.claims) {
      if name == "length" {
        return emit(.length(value, isMember: true), .anyClaims, for: source)
      }
      return emit(.member(value, program.add(text: name)), .anyClaims, for: source)
    }
    if name == "length", !type.contains(.snapshot) {
      try require(value, .text, "only strings have a length")
      return emit(.length(value, isMember: false), .number, for: source)
    }
    let isMethod = type.contains(.snapshot) ? Self.isSnapshotMethod(name) : Self.isTextMethod(name)
    throw RulesSyntaxError(
      isMethod ? "'\(name)' is a method: write \(name)()" : "\(type.name) has no member '\(name)'",
      at: source.anchor)
  }

  private mutating func queryMember(
    _ name: String, for source: Expression
  ) throws(RulesSyntaxError) -> Int {
    guard scope.kind == .read else {
      throw RulesSyntaxError("only a .read rule has a 'query'", at: source.range.lowerBound)
    }
    guard let member = Operation.QueryMember(rawValue: name) else {
      let known = Operation.QueryMember.allCases.map(\.rawValue).joined(separator: ", ")
      throw RulesSyntaxError("query has no member '\(name)'; it has \(known)", at: source.anchor)
    }
    return emit(.query(member), member.result, for: source)
  }

  mutating func element(
    _ index: Expression, of value: Expression, for source: Expression
  ) throws(RulesSyntaxError) -> Int {
    let value = try compile(value)
    guard type(of: value).contains(.claims) else {
      throw RulesSyntaxError(
        "only members of auth may be chosen by a computed name", at: source.anchor)
    }
    let index = try compile(index)
    try require(index, [.text, .number], "a member's name must be a string")
    return emit(.element(value, index), .anyClaims, for: source)
  }

  static func isSnapshotMethod(_ name: String) -> Bool {
    Operation.Inspection(rawValue: name) != nil || name == "child" || name == "hasChild"
  }

  static func isTextMethod(_ name: String) -> Bool {
    Operation.TextTest(rawValue: name) != nil
      || ["replace", "toLowerCase", "toUpperCase", "matches"].contains(name)
  }
}
