public import TernCore
public import TernQuery

/// Lets the rules of a file decide; administrators pass.
///
/// A value is immutable and is used from any thread. Denials are judged a second time with a trace
/// when the log wants an explanation; the ``DenialLog`` limits how often.
public struct RulesAuthorizer: DenialReporting {
  /// The rules in force.
  public let rules: TreeRules
  /// The log that is told of denials.
  public let denials: DenialLog?

  /// Judges by `rules`.
  ///
  /// - Parameter denials: The log that is told of each denial what the rules said to it, where it
  ///   is found by the id its client was told.
  public init(_ rules: TreeRules, denials: DenialLog? = nil) {
    self.rules = rules
    self.denials = denials
  }

  /// Judges by `rules`, with a log of its own.
  ///
  /// - Parameters:
  ///   - onDenial: As of ``DenialLog/init(onDenial:onOmitted:)``.
  ///   - onOmitted: As there.
  public init(
    _ rules: TreeRules, onDenial: @escaping @Sendable (RulesExplanation) -> Void,
    onOmitted: (@Sendable (OmittedDenials) -> Void)? = nil
  ) {
    self.init(rules, denials: DenialLog(onDenial: onDenial, onOmitted: onOmitted))
  }

  public func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict {
    let (requester, now) = (request.requester, request.now)
    guard let caller = RulesCaller(requester.identity, now: now) else { return .allowed }
    let query = RulesQuery(request.query)
    return verdict(on: requester, now: now) { () throws(RulesDataError) in
      try rules.read(request.path, query: query, by: caller, in: state.snapshot)
    } explaining: { () throws(RulesDataError) in
      try rules.explainRead(request.path, query: query, by: caller, in: state.snapshot)
    }
  }

  public func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict {
    let (requester, now) = (request.requester, request.now)
    guard let caller = RulesCaller(requester.identity, now: now) else { return .allowed }
    let paths = request.paths
    guard let assignments = request.assignments else {
      return preliminaryVerdict(on: request, caller, state)
    }
    // One for each judgement: what one has listed costs the other its steps again, so that both
    // come to the same verdict.
    func after() -> ProposedSnapshot { ProposedSnapshot(assignments, over: state.snapshot) }
    return verdict(on: requester, now: now) { () throws(RulesDataError) in
      try rules.write(paths, by: caller, from: state.snapshot, to: after())
    } explaining: { () throws(RulesDataError) in
      try rules.explainWrite(paths, by: caller, from: state.snapshot, to: after())
    }
  }

  /// Denies a write that the rules deny whatever it brings and whatever is stored where it writes.
  ///
  /// Both states are unknown at the written paths, so the verdict holds for every write to these
  /// paths. An approval is not used: it would have to be repeated with the data in any case.
  ///
  /// - Returns: A denial, or ``TreeVerdict/undecided``.
  private func preliminaryVerdict(
    on request: TreeWriteRequest, _ caller: RulesCaller, _ state: TreeState
  ) -> TreeVerdict {
    let paths = request.paths
    let before = UnknownSnapshot(paths, over: state.snapshot)
    do throws(RulesDataError) {
      let verdict = try rules.write(paths, by: caller, from: before, to: before)
      if verdict.isAllowed { return .undecided }
    } catch {
      // The rules look at what is not known here.
      return .undecided
    }
    return verdict(on: request.requester, now: request.now) { () throws(RulesDataError) in
      try rules.write(paths, by: caller, from: before, to: before)
    } explaining: { () throws(RulesDataError) in
      try rules.explainWrite(paths, by: caller, from: before, to: before)
    }
  }

  /// Judges, and judges once more what is denied, to tell the log what every rule said.
  ///
  /// - Parameters:
  ///   - requester: The origin of the request, whose address the log samples by.
  ///   - now: Milliseconds since 1970.
  ///   - judge: Judges without a trace.
  ///   - explain: Judges the same request with a trace; called only if the log wants it.
  private func verdict(
    on requester: Requester, now: Int64, _ judge: () throws(RulesDataError) -> RulesVerdict,
    explaining explain: () throws(RulesDataError) -> RulesExplanation
  ) -> TreeVerdict {
    do throws(RulesDataError) {
      let verdict = try judge()
      guard case .denied(let denial) = verdict else { return .allowed }
      try denials?.tell(verdict, of: requester.address, at: now, explaining: explain)
      return .denied(AccessRefusal(id: denial.id))
    } catch {
      // A tree that cannot be read grants nothing.
      return .denied(AccessRefusal())
    }
  }
}

extension RulesAuthorizer: TreeIndexing {
  /// Keys and priorities need no index. Source: realtime reference, section 3.7.
  public func hasIndex(for order: TreeOrder, at path: TreePath) -> Bool {
    switch order {
    case .key, .priority: true
    case .value: rules.indexes(at: path).contains(.value)
    case .child(let child): rules.indexes(at: path).contains(.child(child))
    }
  }
}

extension RulesCaller {
  /// Creates the caller that rules see for an identity; `nil` for an administrator, who is exempt
  /// from them.
  public init?(_ identity: Identity, now: Int64) {
    guard let auth = identity.auth else { return nil }
    self.init(auth: auth, now: now)
  }
}
