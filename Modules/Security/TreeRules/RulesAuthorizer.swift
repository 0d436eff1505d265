import Synchronization
public import TernCore
public import TernQuery

/// Lets the rules of a file decide; administrators pass.
public struct RulesAuthorizer: Authorizer {
  /// The rules in force.
  public let rules: TreeRules
  private let log: DenialLog?

  /// Judges by `rules`.
  ///
  /// - Parameter onDenial: Hears of each refusal what the rules said to it, to write it into a log,
  ///   where it is found by the id its client was told. Beyond
  ///   ``RulesLimits/explanationsPerSecond`` it hears which rule refused and nothing more.
  public init(_ rules: TreeRules, onDenial: (@Sendable (RulesExplanation) -> Void)? = nil) {
    self.rules = rules
    log = onDenial.map { DenialLog($0) }
  }

  init(_ rules: TreeRules, log: DenialLog?) {
    self.rules = rules
    self.log = log
  }

  public func judging(by rules: TreeRules) -> RulesAuthorizer { RulesAuthorizer(rules, log: log) }

  public func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool {
    withoutActuallyEscaping(tree) { tree in
      let state = TreeState(snapshot: LookupSnapshot(tree), node: tree)
      return mayRead(path, query, by: requester, now: now, in: state)
    }
  }

  public func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    in state: TreeState
  ) -> Bool {
    readRefusal(path, query, by: requester, now: now, in: state) == nil
  }

  public func readRefusal(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    in state: TreeState
  ) -> AccessRefusal? {
    guard let caller = RulesCaller(requester.identity, now: now) else { return nil }
    let query = RulesQuery(query)
    return refusal(now: now) { () throws(RulesDataError) in
      try rules.read(path, query: query, by: caller, in: state.snapshot)
    } explaining: { () throws(RulesDataError) in
      try rules.explainRead(path, query: query, by: caller, in: state.snapshot)
    }
  }

  public func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool {
    withoutActuallyEscaping(tree) { tree in
      let state = TreeState(snapshot: LookupSnapshot(tree), node: tree)
      return mayWrite(assignments, by: requester, now: now, in: state)
    }
  }

  public func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64, in state: TreeState
  ) -> Bool {
    writeRefusal(assignments, by: requester, now: now, in: state) == nil
  }

  public func writeRefusal(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64, in state: TreeState
  ) -> AccessRefusal? {
    guard let caller = RulesCaller(requester.identity, now: now) else { return nil }
    let paths = assignments.map(\.path)
    let after = ProposedSnapshot(assignments, over: state.snapshot)
    return refusal(now: now) { () throws(RulesDataError) in
      try rules.write(paths, by: caller, from: state.snapshot, to: after)
    } explaining: { () throws(RulesDataError) in
      try rules.explainWrite(paths, by: caller, from: state.snapshot, to: after)
    }
  }

  /// Keys and priorities need no index. Source: realtime reference, section 3.7.
  public func hasIndex(for order: TreeOrder, at path: TreePath) -> Bool {
    switch order {
    case .key, .priority: true
    case .value: rules.indexes(at: path).contains(.value)
    case .child(let child): rules.indexes(at: path).contains(.child(child))
    }
  }

  /// Judges, and judges once more what is refused, to tell the log what every rule said.
  private func refusal(
    now: Int64, _ judge: () throws(RulesDataError) -> RulesVerdict,
    explaining explain: () throws(RulesDataError) -> RulesExplanation
  ) -> AccessRefusal? {
    do throws(RulesDataError) {
      let verdict = try judge()
      guard case .denied(let denial) = verdict else { return nil }
      if let log {
        log.tell(
          log.hasRoom(now: now)
            ? try explain() : RulesExplanation(verdict: verdict, findings: []))
      }
      return AccessRefusal(id: denial.id)
    } catch {
      // A tree that cannot be read grants nothing.
      return AccessRefusal()
    }
  }
}

/// Where refusals are told, and how many of them were explained of late: a client that is refused
/// again and again must not make the server judge everything twice.
final class DenialLog: Sendable {
  private struct Budget {
    var second: Int64 = .min
    var spent = 0
  }

  let tell: @Sendable (RulesExplanation) -> Void
  private let budget = Mutex(Budget())

  init(_ tell: @escaping @Sendable (RulesExplanation) -> Void) { self.tell = tell }

  /// Whether one more may be explained at `now`, in milliseconds since 1970.
  func hasRoom(now: Int64) -> Bool {
    budget.withLock { budget in
      if budget.second != now / 1_000 { budget = Budget(second: now / 1_000) }
      budget.spent += 1
      return budget.spent <= RulesLimits.explanationsPerSecond
    }
  }
}

extension RulesCaller {
  /// The caller that rules see for an identity; `nil` for an administrator, whom they do not bind.
  public init?(_ identity: Identity, now: Int64) {
    guard let auth = identity.auth else { return nil }
    self.init(auth: auth, now: now)
  }
}

/// A tree that answers with whole nodes.
private struct LookupSnapshot: RulesSnapshot {
  private let node: (TreePath) -> TreeNode

  init(_ node: @escaping (TreePath) -> TreeNode) {
    self.node = node
  }

  func shape(at path: TreePath) -> RulesShape { RulesShape(node(path)) }

  func priority(at path: TreePath) -> TreeScalar? { node(path).priority }

  func children(at path: TreePath, after key: TreeKey?, limit: Int) -> [RulesChild] {
    TreeNodeSnapshot(node(path)).children(at: .root, after: key, limit: limit)
  }
}
