import TernCore

extension DocumentRules {
  /// Judges a request about one document.
  ///
  /// - Parameters:
  ///   - request: The request; a list is judged as a request about one concrete document.
  ///   - state: The documents that conditions read.
  ///   - budget: The work that the request may still do; this operation is counted in it.
  /// - Returns: The verdict with the outcome of every statement that was evaluated. A missing
  ///   document of a condition is no error; nothing is thrown.
  package func judge(
    _ request: DocumentRulesRequest, state: DocumentRulesState,
    budget: inout DocumentRulesBudget
  ) -> DocumentRulesVerdict {
    budget.beginOperation()
    var judge = DocumentRulesJudge(self, request, state, budget)
    let verdict = judge.verdict()
    budget = judge.budget
    return verdict
  }
}

/// Finds the statements that apply to a document, and evaluates them until one allows.
///
/// Source: firestore reference, sections 6.3 and 6.4.
///
/// The walk goes through the file in order and depth first. It stops at the first statement that
/// allows, when the budget of expressions is used up, or when the comparison of paths takes too
/// many steps. Statements never deny: a false or faulty condition leaves the decision to the next
/// one.
private struct DocumentRulesJudge {
  private let rules: DocumentRules
  private let request: DocumentRulesRequest
  /// The path of the document from the root of all databases: `databases`, the database,
  /// `documents`, and the segments of the key.
  private let segments: [String]
  private var evaluator: DocumentRuleEvaluator
  private var findings: [DocumentRulesVerdict.Finding] = []
  /// The segments that may still be compared. Nested recursive wildcards multiply the ways to match
  /// one path, so that a small file can otherwise cost an exponential walk.
  private var steps = DocumentRulesLimits.matchSteps
  private var isAllowed = false

  init(
    _ rules: DocumentRules, _ request: DocumentRulesRequest, _ state: DocumentRulesState,
    _ budget: DocumentRulesBudget
  ) {
    self.rules = rules
    self.request = request
    segments =
      DocumentRulePath.prefix(request.databaseID) + DocumentRulePath.split(request.key.text)
    evaluator = DocumentRuleEvaluator(rules, request, state, budget)
  }

  var budget: DocumentRulesBudget { evaluator.budget }

  mutating func verdict() -> DocumentRulesVerdict {
    for match in rules.matches {
      evaluator.captures.removeAll(keepingCapacity: true)
      if visit(match, segment: 0, at: 0) { break }
    }
    return DocumentRulesVerdict(
      isAllowed: isAllowed, method: request.method, findings: findings,
      reads: evaluator.budget.reads)
  }

  /// Compares the path of a block from one of its segments on; true when the request is decided.
  ///
  /// - Parameters:
  ///   - match: The block, whose captures so far are in the evaluator.
  ///   - first: The first of its segments to compare.
  ///   - start: The first segment of the document's path that is left.
  private mutating func visit(
    _ match: DocumentRuleMatch, segment first: Int, at start: Int
  ) -> Bool {
    var position = start
    for number in first..<match.segments.count {
      steps -= 1
      if steps < 0 { return true }
      switch match.segments[number] {
      case .literal(let text):
        guard position < segments.count, segments[position].hasSameBytes(as: text) else {
          return false
        }
        position += 1
      case .capture:
        guard position < segments.count else { return false }
        evaluator.captures.append(.string(segments[position]))
        position += 1
      case .recursive: return visitRecursive(match, segment: number, at: position)
      }
    }
    return visitContents(of: match, at: position)
  }

  /// Tries every number of segments for a recursive wildcard, the most first.
  ///
  /// Each attempt restores the captures, so that a failed one leaves nothing behind for the next.
  private mutating func visitRecursive(
    _ match: DocumentRuleMatch, segment: Int, at position: Int
  ) -> Bool {
    let captured = evaluator.captures.count
    let least = rules.version == 1 ? 1 : 0
    guard position + least <= segments.count else { return false }
    for end in (position + least...segments.count).reversed() {
      evaluator.captures.append(.path(DocumentRulePath(Array(segments[position..<end]))))
      let isDecided = visit(match, segment: segment + 1, at: end)
      evaluator.captures.removeSubrange(captured...)
      if isDecided { return true }
    }
    return false
  }

  /// Evaluates the statements if the path is used up, and then the blocks inside: a recursive
  /// wildcard inside may match zero segments, so blocks are visited even then.
  private mutating func visitContents(of match: DocumentRuleMatch, at position: Int) -> Bool {
    if position == segments.count {
      for allow in match.allows where allow.methods.contains(request.method) {
        if evaluate(allow) { return true }
      }
    }
    for inner in match.matches {
      let captured = evaluator.captures.count
      let isDecided = visit(inner, segment: 0, at: position)
      evaluator.captures.removeSubrange(captured...)
      if isDecided { return true }
    }
    return false
  }

  /// Evaluates a statement; true when it decides the request.
  private mutating func evaluate(_ allow: DocumentRuleAllow) -> Bool {
    let outcome: DocumentRulesVerdict.Finding.Outcome
    do throws(DocumentRuleFault) {
      let holds = try allow.condition.map { condition throws(DocumentRuleFault) in
        try evaluator.holds(condition)
      }
      outcome = holds ?? true ? .allowed : .isFalse
    } catch {
      outcome = .fault(error)
    }
    findings.append(
      DocumentRulesVerdict.Finding(
        position: allow.position, conditionPosition: allow.conditionPosition, outcome: outcome))
    isAllowed = outcome == .allowed
    return isAllowed || outcome == .fault(.exhausted)
  }
}
