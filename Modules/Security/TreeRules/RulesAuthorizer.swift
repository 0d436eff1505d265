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
  /// - Parameters:
  ///   - onDenial: Hears of each refusal what the rules said to it, to write it into a log, where
  ///     it is found by the id its client was told. Beyond
  ///     ``RulesLimits/explanationsPerSecond`` it hears which rule refused and nothing more.
  ///   - onOmitted: Hears how many denials of one address `onDenial` was not told: beyond
  ///     ``RulesLimits/denialBurst``, one in ``RulesLimits/denialMilliseconds`` is. Counts are
  ///     told with a later denial. Without it, `onDenial` hears of all.
  public init(
    _ rules: TreeRules, onDenial: (@Sendable (RulesExplanation) -> Void)? = nil,
    onOmitted: (@Sendable (OmittedDenials) -> Void)? = nil
  ) {
    self.rules = rules
    log = onDenial.map { DenialLog($0, onOmitted: onOmitted) }
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
    return refusal(of: requester, now: now) { () throws(RulesDataError) in
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
    return refusal(of: requester, now: now) { () throws(RulesDataError) in
      try rules.write(paths, by: caller, from: state.snapshot, to: after)
    } explaining: { () throws(RulesDataError) in
      try rules.explainWrite(paths, by: caller, from: state.snapshot, to: after)
    }
  }

  public func preliminaryRefusal(
    ofWriting paths: [TreePath], by requester: Requester, now: Int64, in state: TreeState
  ) -> AccessRefusal? {
    guard let caller = RulesCaller(requester.identity, now: now) else { return nil }
    let before = UnknownSnapshot(paths, over: state.snapshot)
    do throws(RulesDataError) {
      let verdict = try rules.write(paths, by: caller, from: before, to: before)
      if verdict.isAllowed { return nil }
    } catch {
      // The rules look at what is not known here.
      return nil
    }
    return refusal(of: requester, now: now) { () throws(RulesDataError) in
      try rules.write(paths, by: caller, from: before, to: before)
    } explaining: { () throws(RulesDataError) in
      try rules.explainWrite(paths, by: caller, from: before, to: before)
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
    of requester: Requester, now: Int64, _ judge: () throws(RulesDataError) -> RulesVerdict,
    explaining explain: () throws(RulesDataError) -> RulesExplanation
  ) -> AccessRefusal? {
    do throws(RulesDataError) {
      let verdict = try judge()
      guard case .denied(let denial) = verdict else { return nil }
      try log?.tell(verdict, of: requester.address, at: now, explaining: explain)
      return AccessRefusal(id: denial.id)
    } catch {
      // A tree that cannot be read grants nothing.
      return AccessRefusal()
    }
  }
}

/// Where refusals are told, and how many of them were of late: a client that is refused again and
/// again must neither fill a log nor make the server judge everything twice.
final class DenialLog: Sendable {
  private let onDenial: @Sendable (RulesExplanation) -> Void
  /// Hears of denials that are not told; `nil` tells all of them.
  private let onOmitted: (@Sendable (OmittedDenials) -> Void)?
  private let sampler = Mutex(DenialSampler())

  init(
    _ onDenial: @escaping @Sendable (RulesExplanation) -> Void,
    onOmitted: (@Sendable (OmittedDenials) -> Void)?
  ) {
    self.onDenial = onDenial
    self.onOmitted = onOmitted
  }

  /// Tells of a denial as much as its address has left at `now`, in milliseconds since 1970.
  func tell(
    _ verdict: RulesVerdict, of address: String, at now: Int64,
    explaining explain: () throws(RulesDataError) -> RulesExplanation
  ) throws(RulesDataError) {
    let address = onOmitted == nil ? nil : address
    let decision = sampler.withLock { $0.take(address, at: now) }
    for summary in decision.summaries { onOmitted?(summary) }
    switch decision.detail {
    case .explained: onDenial(try explain())
    case .brief: onDenial(RulesExplanation(verdict: verdict, findings: []))
    case .omitted: break
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
