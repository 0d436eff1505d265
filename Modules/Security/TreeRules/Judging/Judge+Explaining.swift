import TernCore

extension Judge {
  /// Tells how a rule just evaluated came out, and which of its parts decided.
  func finding(
    _ rule: Int, _ outcome: RuleEvaluator.Outcome, at path: TreePath
  ) -> RulesFinding {
    let source = rules.program.rules[rule]
    let reason: RulesReason
    let result: RulesFinding.Outcome
    switch outcome {
    case .holds: (result, reason) = (.held, self.reason(source.entry, in: rule))
    case .fails: (result, reason) = (.failed, self.reason(source.entry, in: rule))
    case .mistaken(let mistake, let operation):
      (result, reason) = (.mistaken(mistake), self.reason(operation, in: rule))
    case .exhausted(let budget, let operation):
      (result, reason) = (.exhausted(budget), self.reason(operation, in: rule))
    }
    return RulesFinding(
      kind: source.kind, location: source.location, path: path, outcome: result, reason: reason)
  }

  /// The part of a rule that an operation stands for, with the operands that decided it.
  private func reason(_ operation: Int, in rule: Int) -> RulesReason {
    let range = rules.program.ranges[operation]
    let text = rules.program.rules[rule].text
    return RulesReason(
      text: String(decoding: text.bytes[range], as: UTF8.self),
      position: rules.position(of: range.lowerBound, in: rule),
      value: evaluator.trace?[operation].map(describe),
      operands: decisiveOperands(of: operation).map { reason($0, in: rule) })
  }

  private func decisiveOperands(of operation: Int) -> [Int] {
    let trace = evaluator.trace ?? [:]
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
    case .text(let text): Self.quoted(text)
    case .object: "an object"
    case .claims(.array): "a list"
    case .claims: "an object"
    case .snapshot(let reference):
      "the \(reference.isProposed ? "proposed" : "current") node /\(reference.path.text)"
    }
  }

  /// At most eighty characters of a string, in quotes. What a log or a terminal would not take for
  /// text is written out: the string is a client's.
  private static func quoted(_ text: String) -> String {
    let start = text.unicodeScalars.prefix(81)
    let shown = start.prefix(80).map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
        "\\u{\(String(scalar.value, radix: 16))}"
      default: scalar == "\"" || scalar == "\\" ? "\\\(scalar)" : String(scalar)
      }
    }
    return "\"" + shown.joined() + (start.count > 80 ? "…\"" : "\"")
  }
}
