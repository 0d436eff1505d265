package import TernCore

/// The decision of rules about one request, with its explanation.
package struct DocumentRulesVerdict: Sendable {
  /// The result of one `allow` statement that matched.
  package struct Finding: Hashable, Sendable {
    /// The reason that a statement did not allow.
    package enum Outcome: Hashable, Sendable {
      case allowed
      case isFalse
      case fault(DocumentRuleFault)
    }

    /// The position of the statement.
    package let position: RulesPosition
    /// The position of its condition.
    package let conditionPosition: RulesPosition
    /// The result of the condition.
    package let outcome: Outcome
  }

  /// True when a statement allows the request.
  package let isAllowed: Bool
  /// The method that was judged.
  package let method: DocumentRuleMethods
  /// The statements that were evaluated, in their order; the last one decided.
  package let findings: [Finding]
  /// The documents that the evaluation read, each once: the verdict holds until one changes.
  package let reads: [DocumentKey]

  /// True when the budget of expressions was used up.
  package var isExhausted: Bool {
    findings.contains { $0.outcome == .fault(.exhausted) }
  }
}

extension DocumentRulesVerdict {
  /// The text of a denial as the emulator writes it.
  ///
  /// Source: firestore reference, section 6.10.
  ///
  /// First come all statements that are false or failed, then the reasons of the failures, all
  /// separated by commas. Its form follows the emulator's, the line break in front included. For
  /// lists the emulator leaves out the entry of a failed statement, and so does this text.
  package var denialText: String { "\n" + entries.joined(separator: ", ") }

  private var entries: [String] {
    if findings.isEmpty { return ["No matching allow statements"] }
    var (entries, reasons) = ([String](), [String]())
    for finding in findings {
      let place = "for '\(method.text)' @ L\(finding.position.line)"
      switch finding.outcome {
      case .allowed: break
      case .isFalse: entries.append("false \(place)")
      case .fault(.exhausted):
        reasons.append("\(DocumentRuleFault.exhausted.text) \(place)")
      case .fault(let fault):
        let condition = finding.conditionPosition
        if method != .list {
          entries.append("evaluation error at L\(condition.line):\(condition.column) \(place)")
        }
        if case .documentAccess = fault {
          reasons.append(fault.text)
        } else {
          reasons.append("\(fault.text) \(place)")
        }
      }
    }
    return entries + reasons
  }
}

extension DocumentRulesVerdict: CustomStringConvertible {
  /// One line for the decision, and one for each statement that was evaluated.
  package var description: String {
    let head = "\(method.text) is \(isAllowed ? "allowed" : "denied")"
    if findings.isEmpty { return head + ": no allow statement matches" }
    let lines = findings.map { finding in
      switch finding.outcome {
      case .allowed: "  line \(finding.position.line): true"
      case .isFalse: "  line \(finding.position.line): false"
      case .fault(let fault): "  line \(finding.position.line): error: \(fault.text)"
      }
    }
    return ([head] + lines).joined(separator: "\n")
  }
}
