import TernCore

extension Judge {
  /// Returns a verdict with the rules that were asked.
  func explanation(of verdict: RulesVerdict) -> RulesExplanation {
    let findings = asked?.entries.map { RuleExplainer(rules: rules, entry: $0).finding } ?? []
    return RulesExplanation(
      verdict: verdict, findings: findings, omittedCount: asked?.omitted ?? 0)
  }
}

/// Tells how one rule came out, and which of its parts decided.
private struct RuleExplainer {
  let rules: CompiledRules
  let entry: AskedRules.Entry

  var finding: RulesFinding {
    let source = rules.program.rules[entry.rule]
    let result: RulesFinding.Outcome
    var decisive = source.entry
    switch entry.outcome {
    case .holds: result = .held
    case .fails: result = .failed
    case .mistaken(let mistake, let operation): (result, decisive) = (.mistaken(mistake), operation)
    case .exhausted(let budget, let operation): (result, decisive) = (.exhausted(budget), operation)
    }
    return RulesFinding(
      kind: source.kind, location: source.location, path: entry.path, outcome: result,
      reason: reason(decisive, in: entry.rule))
  }

  /// The part of a rule that an operation stands for, with the operands that decided it.
  private func reason(_ operation: Int, in rule: Int) -> RulesReason {
    let range = rules.program.ranges[operation]
    let text = rules.program.rules[rule].text
    return RulesReason(
      text: String(decoding: text.bytes[range], as: UTF8.self),
      position: rules.position(of: range.lowerBound, in: rule),
      value: entry.trace[operation].map(describe),
      shape: entry.trace[operation].map { shape(of: $0, from: operation) },
      operands: decisiveOperands(of: operation).map { reason($0, in: rule) })
  }

  /// Returns the operands to show: those that were evaluated and whose value their text does not
  /// already tell.
  ///
  /// A false `&&` is explained by its false operands, a true `||` by its true ones.
  private func decisiveOperands(of operation: Int) -> [Int] {
    let trace = entry.trace
    func isBool(_ index: Int, _ wanted: Bool) -> Bool {
      if case .bool(wanted)? = trace[index] { true } else { false }
    }
    let program = rules.program
    let evaluated = program.operations[operation].operands(in: program).filter { operand in
      switch (program.operations[operand], trace[operand]) {
      // They say nothing that their text does not say already.
      case (_, nil), (.constant, _), (.path, _), (.root, _), (.data, _), (.newData, _),
        (.auth, .claims):
        false
      default: true
      }
    }
    switch program.operations[operation] {
    case .all where isBool(operation, false): return evaluated.filter { isBool($0, false) }
    case .any where isBool(operation, true): return evaluated.filter { isBool($0, true) }
    default: return evaluated
    }
  }

  private func describe(_ value: RuleValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .double(let value): value.ruleText
    case .text(let text): PrintedText.quoted(text)
    case .object: "an object"
    case .claims(.array): "a list"
    case .claims: "an object"
    case .snapshot(let reference):
      "the \(reference.isProposed ? "proposed" : "current") node \(PrintedText.path(reference.path.text))"
    }
  }

  /// A value as a log may show it: what the rules made of data is shown, data and claims are not.
  private func shape(of value: RuleValue, from operation: Int) -> String {
    switch value {
    case .null, .object, .claims, .snapshot: describe(value)
    case .bool: rules.program.operations[operation].makesTruth ? describe(value) : "a boolean"
    case .integer, .double: isPublic(operation) ? describe(value) : "a number"
    case .text: isPublic(operation) ? describe(value) : "a string"
    }
  }

  /// Returns true when an operation's result depends on the request's time or path, and not on
  /// data.
  private func isPublic(_ operation: Int) -> Bool {
    switch rules.program.operations[operation] {
    case .constant, .path, .now, .capture: true
    default: false
    }
  }
}

extension Operation {
  /// True when it answers a question with yes or no, instead of handing a value on.
  fileprivate var makesTruth: Bool {
    switch self {
    case .constant, .not, .all, .any, .equality, .comparison, .hasChild, .hasChildren, .textTest,
      .matches:
      true
    case .inspection(let inspection, _): inspection.result == .bool
    default: false
    }
  }
}
