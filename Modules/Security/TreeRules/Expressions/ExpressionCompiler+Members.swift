extension ExpressionCompiler {
  /// Emits `value.name`.
  ///
  /// The `name` of a member is free only on claims (`auth` and everything below it), where a
  /// missing member is `null`. Strings have `length` and nothing else, snapshots have only methods,
  /// and `query` has the members of ``Operation/QueryMember``. A claims object may have a member
  /// called `length`, so that access is decided at run time.
  ///
  /// - Throws: A message at the member's name; it suggests parentheses when a method is meant.
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

  /// Emits a member of `query`. Other kinds of rules see no query, and the members are fixed, so
  /// both mistakes are found at load time.
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

  /// Emits `value[index]` with a computed index.
  ///
  /// A number is a valid index because claims contain lists: `auth.token.groups[0]`.
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

  /// Returns true for a method of snapshots. Used only to choose the message for a missing `()`.
  static func isSnapshotMethod(_ name: String) -> Bool {
    Operation.Inspection(rawValue: name) != nil || name == "child" || name == "hasChild"
  }

  /// Returns true for a method of strings.
  static func isTextMethod(_ name: String) -> Bool {
    Operation.TextTest(rawValue: name) != nil
      || ["replace", "toLowerCase", "toUpperCase", "matches"].contains(name)
  }
}
