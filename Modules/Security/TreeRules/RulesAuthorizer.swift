public import TernCore
public import TernQuery

/// Lets the rules of a file decide; administrators pass.
public struct RulesAuthorizer: Authorizer {
  /// The rules in force.
  public let rules: TreeRules
  private let onDenial: (@Sendable (RulesDenial) -> Void)?

  /// Judges by `rules`.
  ///
  /// - Parameter onDenial: Hears of each refusal, so that its id finds its way into a log.
  public init(_ rules: TreeRules, onDenial: (@Sendable (RulesDenial) -> Void)? = nil) {
    self.rules = rules
    self.onDenial = onDenial
  }

  /// Judges by other rules, and tells of its refusals where this one does.
  package func judging(by rules: TreeRules) -> RulesAuthorizer {
    RulesAuthorizer(rules, onDenial: onDenial)
  }

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
    guard let caller = RulesCaller(requester.identity, now: now) else { return true }
    return decide { () throws(RulesDataError) in
      try rules.read(path, query: RulesQuery(query), by: caller, in: state.snapshot)
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
    guard let caller = RulesCaller(requester.identity, now: now) else { return true }
    let after = ProposedSnapshot(assignments, over: state.snapshot)
    return decide { () throws(RulesDataError) in
      try rules.write(assignments.map(\.path), by: caller, from: state.snapshot, to: after)
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

  private func decide(_ judge: () throws(RulesDataError) -> RulesVerdict) -> Bool {
    do throws(RulesDataError) {
      switch try judge() {
      case .allowed: return true
      case .denied(let denial):
        onDenial?(denial)
        return false
      }
    } catch {
      // A tree that cannot be read grants nothing.
      return false
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
