public import TernCore

/// A verdict with what every rule that was asked said, for operators and authors of rules.
///
/// It shows data and claims; clients must not see it.
public struct RulesExplanation: Sendable, CustomStringConvertible {
  /// The verdict for the client, apart from the reasons.
  public let verdict: RulesVerdict
  /// One entry per rule asked, in the order they were asked; of many the latest, and those that
  /// decided.
  public let findings: [RulesFinding]
  /// The number of rules that were asked and are not among the findings.
  public let omittedCount: Int

  /// The findings that decided: the rule that granted, or those that refused.
  public var decisive: [RulesFinding] {
    switch verdict {
    case .allowed: findings.last.map { [$0] } ?? []
    case .denied(let denial):
      findings.filter {
        $0.kind == denial.kind && !$0.outcome.isHeld && $0.path.contains(denial.path)
      }
    }
  }

  /// Several lines for a terminal, with data and claims.
  public var description: String { text(showingValues: true) }

  /// Several lines: for a terminal with data and claims, for a log without. About
  /// ``RulesLimits/explanationBytes`` at most.
  ///
  /// - Parameter showingValues: Whether values are shown; otherwise only their types are.
  public func text(showingValues: Bool) -> String {
    let head =
      switch verdict {
      case .allowed: "allowed"
      case .denied(let denial): denial.description
      }
    // The last rules decided.
    var (texts, left, omitted) = ([String](), RulesLimits.explanationBytes, omittedCount)
    for finding in findings.reversed() {
      guard left > 0 else {
        omitted += 1
        continue
      }
      let text = finding.text(showingValues: showingValues, limit: left)
      left -= text.utf8.count
      texts.append(text)
    }
    if omitted > 0 { texts.append("(\(omitted) more rules were asked before these)") }
    return ([head] + texts.reversed()).joined(separator: "\n")
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
  public var description: String {
    text(showingValues: true, limit: RulesLimits.explanationBytes)
  }

  /// - Parameter limit: The number of bytes behind which no further line begins.
  func text(showingValues: Bool, limit: Int) -> String {
    let result =
      switch outcome {
      case .held: "true"
      case .failed: "false"
      case .mistaken(let mistake): "false, because \(mistake.rawValue)"
      case .exhausted(let budget): "stopped, because \(budget.rawValue)"
      }
    let head = "\(kind.rawValue) of \(location) at \(PrintedText.path(path.text)): \(result)"
    var lines = [head]
    var left = limit - head.utf8.count
    reason.add(to: &lines, indent: 1, showingValues: showingValues, left: &left)
    if left <= 0 { lines.append("  …") }
    return lines.joined(separator: "\n")
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

  /// Adds a line for the part and for each of its operands, as long as bytes are left.
  fileprivate func add(
    to lines: inout [String], indent: Int, showingValues: Bool, left: inout Int
  ) {
    guard left > 0 else { return }
    let margin = String(repeating: "  ", count: indent)
    let result = (showingValues ? value : shape).map { " is \($0)" } ?? " failed"
    let shown = text.unicodeScalars.prefix(RulesLimits.printedRuleCharacters)
    let isCut = shown.endIndex < text.unicodeScalars.endIndex
    lines.append("\(margin)\(position): \(String(shown))\(isCut ? "…" : "")\(result)")
    left -= lines[lines.count - 1].utf8.count + 1
    for operand in operands {
      operand.add(to: &lines, indent: indent + 1, showingValues: showingValues, left: &left)
    }
  }

  /// The deepest single part on the way to the verdict: the one to show when only one fits.
  public var core: RulesReason {
    guard operands.count == 1, let operand = operands.first, operand.value == value else {
      return self
    }
    return operand.core
  }
}
