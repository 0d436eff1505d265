import TernCore
package import TernQuery

extension DocumentRules {
  /// Decides whether a query is allowed: whether the rules allow to list every document that it can
  /// select, whatever is stored.
  ///
  /// No document is read but for those that the rules ask for, and for one that the query names.
  /// Source: firestore reference, section 6.8.
  ///
  /// - Parameters:
  ///   - query: The query, with its limit and offset.
  ///   - request: The request; its document does not count.
  ///   - state: The documents that rules ask for.
  ///   - budget: The budget of a query.
  /// - Returns: A verdict whose reads include a document that the query names: the permission holds
  ///   only while that document stays as it is.
  package func prove(
    _ query: DocumentQuery, _ request: DocumentRulesRequest, _ state: DocumentRulesState,
    _ budget: inout DocumentRulesBudget
  ) -> DocumentRulesVerdict {
    var request = request
    request.method = .list
    request.query = DocumentRuleValue(request: query)
    guard let alternatives = QueryFacts.all(of: query) else {
      return DocumentRulesVerdict(
        isAllowed: false, method: .list, findings: [], reads: budget.reads)
    }
    var (isAllowed, findings) = (true, [DocumentRulesVerdict.Finding]())
    // Documents that the query names are no reads of the rules, and count for no budget; a verdict
    // rests on them all the same.
    var named: Set<DocumentKey> = []
    for facts in alternatives {
      if let key = Self.onlyKey(of: query, facts) { named.insert(key) }
      let verdict = prove(query, facts, request, state, &budget)
      guard verdict.isAllowed else {
        (isAllowed, findings) = (false, verdict.findings)
        break
      }
      findings += verdict.findings
    }
    return DocumentRulesVerdict(
      isAllowed: isAllowed, method: .list, findings: findings,
      reads: budget.reads + named.subtracting(budget.reads).sorted())
  }

  /// Proves one alternative of the query. One statement must hold for all of its documents: two
  /// that cover the documents only together do not suffice.
  private func prove(
    _ query: DocumentQuery, _ facts: QueryFacts, _ request: DocumentRulesRequest,
    _ state: DocumentRulesState, _ budget: inout DocumentRulesBudget
  ) -> DocumentRulesVerdict {
    if let key = Self.onlyKey(of: query, facts) {
      // What the document holds decides.
      var request = request
      request.key = key
      request.resource = state.before(key)
      let verdict = judge(request, state: state, budget: &budget)
      return DocumentRulesVerdict(
        isAllowed: verdict.isAllowed, method: .list, findings: verdict.findings,
        reads: verdict.reads)
    }
    budget.beginOperation()
    var evaluator = ProofEvaluator(self, request, state, facts, budget)
    defer { budget = evaluator.budget }
    var findings: [DocumentRulesVerdict.Finding] = []
    let path = PathProof(of: query.source, in: request.databaseID, version: version)
    for match in path.matches(matches, for: .list) {
      evaluator.captures = match.captures
      for allow in match.allows {
        let outcome = Self.outcome(of: allow, &evaluator)
        findings.append(
          DocumentRulesVerdict.Finding(
            position: allow.position, conditionPosition: allow.conditionPosition,
            outcome: outcome))
        if outcome == .isFalse { continue }
        if outcome == .allowed || outcome == .fault(.exhausted) {
          return DocumentRulesVerdict(
            isAllowed: outcome == .allowed, method: .list, findings: findings,
            reads: evaluator.budget.reads)
        }
      }
    }
    return DocumentRulesVerdict(
      isAllowed: false, method: .list, findings: findings, reads: evaluator.budget.reads)
  }

  /// The only document that an alternative can select.
  private static func onlyKey(of query: DocumentQuery, _ facts: QueryFacts) -> DocumentKey? {
    if case .document(let key) = query.source { return key }
    return facts.key
  }

  /// Returns the outcome of a statement. A condition that is neither true nor false for all
  /// documents is reported with the first reason for the doubt.
  private static func outcome(
    of allow: DocumentRuleAllow, _ evaluator: inout ProofEvaluator
  ) -> DocumentRulesVerdict.Finding.Outcome {
    guard let condition = allow.condition else { return .allowed }
    do throws(DocumentRuleFault) {
      let value = try evaluator.outcome(of: condition)
      if let truth = value.truth { return truth ? .allowed : .isFalse }
      if let fault = value.certainFault { return .fault(fault) }
      return evaluator.doubt.map { .fault($0) } ?? .isFalse
    } catch {
      return .fault(error)
    }
  }
}

extension DocumentRuleValue {
  /// The members of `request.query` that are not documented; rules may count on there being nine.
  private static let otherMembers = [
    "collectionId", "endAt", "parent", "select", "startAt", "where",
  ]

  /// `request.query` for a query. Source: firestore reference, section 6.7.
  init(request query: DocumentQuery) {
    let orders = query.orders.map { order in
      (order.path.text, DocumentRuleValue.string(order.isDescending ? "DESC" : "ASC"))
    }
    var members: [(String, DocumentRuleValue)] = [
      ("limit", query.limit.map { .int(Int64($0.count)) } ?? .null),
      ("offset", .int(Int64(query.offset))),
      ("orderBy", .map(DocumentRuleMap(orders))),
    ]
    members += Self.otherMembers.map { ($0, .null) }
    self = .map(DocumentRuleMap(members))
  }
}
