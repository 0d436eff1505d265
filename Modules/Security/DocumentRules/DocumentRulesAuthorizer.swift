public import TernCore

/// Lets rules for documents decide; administrators pass.
///
/// Everything is denied in a database that has no rules.
public struct DocumentRulesAuthorizer: DocumentAuthorizer {
  /// The rules in force.
  public let rules: DocumentRulesSet
  private let reporter: DocumentDenialReporter

  /// Judges by `rules`.
  ///
  /// - Parameters:
  ///   - showsReasons: True to tell clients the reasons of denials, and to count the results of
  ///     every expression, as the emulator does; for development only.
  ///   - onDenial: Hears of each refusal what the rules said to it, to write it into a log, where
  ///     it is found by the id its client was told.
  ///   - onOmitted: Hears how many denials of one address `onDenial` was not told, by the limits of
  ///     ``RulesAuthorizer/init(_:onDenial:onOmitted:)``. Without it, `onDenial` hears of all.
  public init(
    _ rules: DocumentRulesSet, showsReasons: Bool = false,
    onDenial: (@Sendable (DocumentDenial) -> Void)? = nil,
    onOmitted: (@Sendable (OmittedDenials) -> Void)? = nil
  ) {
    self.rules = showsReasons ? rules.recordingCoverage() : rules
    reporter = DocumentDenialReporter(
      showsReasons: showsReasons, onDenial: onDenial, onOmitted: onOmitted)
  }

  private init(_ rules: DocumentRulesSet, _ reporter: DocumentDenialReporter) {
    self.rules = reporter.showsReasons ? rules.recordingCoverage() : rules
    self.reporter = reporter
  }

  /// The results of the expressions of a database's rules so far, as the emulator reports them;
  /// `nil` when there are no rules, or results are not counted.
  package func coverage(of databaseID: String) -> DocumentRulesCoverage.Report? {
    rules.rules(of: databaseID).rules.flatMap { DocumentRulesCoverage.Report($0) }
  }

  /// Returns the authorizer for other rules, with the same report of denials.
  public func judging(by rules: DocumentRulesSet) -> DocumentRulesAuthorizer {
    DocumentRulesAuthorizer(rules, reporter)
  }

  public func judging(by rules: DocumentRules) -> any DocumentAuthorizer {
    judging(by: DocumentRulesSet(common: rules))
  }

  public var namesDependencies: Bool { true }

  public func blanketVerdict(for requester: Requester) -> Bool? {
    requester.identity == .administrator ? true : nil
  }

  public func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool {
    withoutActuallyEscaping(documents) { documents in
      verdict(
        on: [access], by: requester,
        time: DocumentTimestamp(uncheckedMicroseconds: now * 1_000),
        in: DocumentAccessState(before: documents)
      ).isAllowed
    }
  }

  public func verdict(
    on accesses: [DocumentAccess], by requester: Requester, time: DocumentTimestamp,
    in state: DocumentAccessState
  ) -> DocumentVerdict {
    guard let auth = DocumentRuleValue(auth: requester.identity) else {
      return DocumentVerdict(refusal: nil, dependencies: [])
    }
    let caller = DocumentRulesCaller(
      auth: auth, databaseID: DocumentRulesCaller.databaseID(requester.namespace), time: time)
    let documents = DocumentRulesState(
      before: { state.before($0).fields }, after: { state.after($0).fields })
    let (rules, fingerprint) = self.rules.rules(of: caller.databaseID)
    // One budget serves all parts: the limit on reads is that of the whole request.
    var budget = DocumentRulesBudget(of: accesses, asked: state.asked)
    var dependencies: Set<DocumentKey> = []
    for access in accesses {
      let verdict = rules.flatMap { judge(access, by: $0, caller, documents, &budget) }
      dependencies.formUnion(verdict?.reads ?? [])
      if verdict?.isAllowed == true { continue }
      let refusal = reporter.refusal(
        DocumentDenial(access, verdict, by: requester, rules: fingerprint, at: time))
      return DocumentVerdict(refusal: refusal, dependencies: dependencies)
    }
    return DocumentVerdict(refusal: nil, dependencies: dependencies)
  }

  /// - Returns: `nil` for what no rule can allow.
  private func judge(
    _ access: DocumentAccess, by rules: DocumentRules, _ caller: DocumentRulesCaller,
    _ documents: DocumentRulesState, _ budget: inout DocumentRulesBudget
  ) -> DocumentRulesVerdict? {
    switch access {
    case .get(let document):
      let request = caller.request(.get, document.key, resource: document.fields)
      return rules.judge(request, state: documents, budget: &budget)
    case .list(let query):
      // The request of a query is about no document in particular.
      let request = caller.request(.list, DocumentKey(unchecked: "-/-"), resource: nil)
      return rules.prove(query, request, documents, &budget)
    case .write(let write):
      var request = caller.request(
        DocumentRuleMethods(write.method), write.before.key, resource: write.before.fields)
      request.change = .write(write.after.fields)
      return rules.judge(request, state: documents, budget: &budget)
    case .listCollections, .privileged: return nil
    }
  }
}

/// The caller of a request, and the database and the time of it.
private struct DocumentRulesCaller {
  let auth: DocumentRuleValue
  let databaseID: String
  let time: DocumentTimestamp

  /// The last part of the resource name of a database.
  static func databaseID(_ name: String) -> String {
    String(decoding: name.utf8.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
  }

  func request(
    _ method: DocumentRuleMethods, _ key: DocumentKey, resource: DocumentFields?
  ) -> DocumentRulesRequest {
    DocumentRulesRequest(
      method, key, in: databaseID, at: time, auth: auth, resource: resource)
  }
}

extension DocumentRuleValue {
  /// The value of `request.auth`; `nil` for an administrator, who is exempt from rules.
  fileprivate init?(auth identity: Identity) {
    switch identity {
    case .administrator: return nil
    case .anonymous: self = .null
    case .impersonated(let auth): self = DocumentRuleValue(json: auth)
    case .user(let id, let claims):
      self = .map(
        DocumentRuleMap([("uid", .string(id)), ("token", DocumentRuleValue(json: claims))]))
    }
  }
}

extension DocumentRulesBudget {
  /// The budget of a request, less what was asked for its other parts.
  ///
  /// A request in several parts may be judged in several calls. The documents that earlier calls
  /// read are counted first, each in an operation of its own, so that only the limit of the request
  /// counts them.
  fileprivate init(of accesses: [DocumentAccess], asked: Set<DocumentKey>) {
    if accesses.count == 1, case .list = accesses[0] {
      self = .query
    } else {
      self = .several
    }
    for key in asked {
      beginOperation()
      _ = countRead(of: key)
    }
  }
}

extension DocumentRuleMethods {
  fileprivate init(_ method: DocumentWriteAccess.Method) {
    self =
      switch method {
      case .create: .create
      case .update: .update
      case .delete: .delete
      }
  }
}
