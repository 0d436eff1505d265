public import TernCore

/// A verdict with what every rule that was asked said, for operators and authors of rules.
///
/// It shows data and claims; clients must not see it.
public struct RulesExplanation: Sendable, CustomStringConvertible {
  /// The verdict for the client, apart from the reasons.
  public let verdict: RulesVerdict
  /// One entry per rule asked, in the order they were asked.
  public let findings: [RulesFinding]

  /// The findings that decided: the rule that granted, or those that refused.
  public var decisive: [RulesFinding] {
    switch verdict {
    case .allowed: findings.last.map { [$0] } ?? []
    case .denied(let denial):
      findings.filter { $0.kind == denial.kind && !$0.outcome.isHeld }
    }
  }

  /// Several lines for a terminal, with data and claims.
  public var description: String { text(showingValues: true) }

  /// Several lines: for a terminal with data and claims, for a log without.
  ///
  /// - Parameter showingValues: Whether values are shown; otherwise only their types are.
  public func text(showingValues: Bool) -> String {
    var lines: [String] = []
    switch verdict {
    case .allowed: lines.append("allowed")
    case .denied(let denial): lines.append(denial.description)
    }
    for finding in findings { lines.append(finding.text(showingValues: showingValues)) }
    return lines.joined(separator: "\n")
  }
}

extension RulesDenial: CustomStringConvertible {
  /// One line: what was refused, why, and the id.
  public var description: String {
    let why =
      switch reason {
      case .notGranted: "no \(kind.rawValue) rule grants it"
      case .invalid(let position): "the .validate rule at \(position) does not hold"
      case .exhausted(let budget): budget.rawValue
      }
    return "denied at \(PrintedText.path(path.text)): \(why) [\(id)]"
  }
}

/// The result of one rule.
public struct RulesFinding: Sendable, CustomStringConvertible {
  /// The outcome of a rule.
  public enum Outcome: Hashable, Sendable {
    /// The rule is true.
    case held
    /// The rule is false.
    case failed
    /// It met a value it has no meaning for, which makes it false.
    case mistaken(RuleError)
    /// The evaluation used up its budget.
    case exhausted(RulesBudget)

    var isHeld: Bool { self == .held }
  }

  /// The kind of the rule.
  public let kind: RulesKind
  /// The location of the rule among the rules, such as `/users/$uid`.
  public let location: String
  /// The node of the tree it was asked about.
  public let path: TreePath
  /// The outcome of the rule.
  public let outcome: Outcome
  /// The parts of the expression that decided.
  public let reason: RulesReason

  /// Several lines for a terminal, with data and claims.
  public var description: String { text(showingValues: true) }

  func text(showingValues: Bool) -> String {
    let result =
      switch outcome {
      case .held: "true"
      case .failed: "false"
      case .mistaken(let mistake): "false, because \(mistake.rawValue)"
      case .exhausted(let budget): "stopped, because \(budget.rawValue)"
      }
    let head = "\(kind.rawValue) of \(location) at \(PrintedText.path(path.text)): \(result)"
    let lines = reason.lines(indent: 1, showingValues: showingValues)
    return head + "\n" + lines.joined(separator: "\n")
  }
}

/// A part of an expression, what it came to, and the parts it came from.
public struct RulesReason: Hashable, Sendable {
  /// The part as written.
  public let text: String
  /// The start of the rule in the file.
  public let position: RulesPosition
  /// The result as text; `nil` when the evaluation failed.
  public let value: String?
  /// The result without data and claims: a truth value that an operator or a method made, or the
  /// type of anything else; `nil` when the evaluation failed.
  public let shape: String?
  /// The parts that mattered; what was never evaluated is left out.
  public let operands: [RulesReason]

  func lines(indent: Int, showingValues: Bool) -> [String] {
    let margin = String(repeating: "  ", count: indent)
    let result = (showingValues ? value : shape).map { " is \($0)" } ?? " failed"
    return ["\(margin)\(position): \(text)\(result)"]
      + operands.flatMap { $0.lines(indent: indent + 1, showingValues: showingValues) }
  }

  /// The deepest single part on the way to the verdict: the one to show when only one fits.
  public var core: RulesReason {
    guard operands.count == 1, let operand = operands.first, operand.value == value else {
      return self
    }
    return operand.core
  }
}
