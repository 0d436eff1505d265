public import TernCore

/// Decides as another authorizer does, and explains denials by rules that databases receive over
/// the wire.
///
/// A development server that has no rules of its own tells clients the reasons of such denials, and
/// counts the results of the rules' expressions.
public struct ExplainingDocumentAuthorizer: DocumentAuthorizer {
  private let base: any DocumentAuthorizer
  private let ruled: DocumentRulesAuthorizer

  /// Decides as `base` does.
  ///
  /// - Parameters:
  ///   - showsReasons: As of ``DocumentRulesAuthorizer``, for rules received over the wire.
  ///   - onDenial: As there.
  ///   - onOmitted: As there.
  public init(
    _ base: any DocumentAuthorizer, showsReasons: Bool = false,
    onDenial: (@Sendable (DocumentDenial) -> Void)? = nil,
    onOmitted: (@Sendable (OmittedDenials) -> Void)? = nil
  ) {
    self.base = base
    ruled = DocumentRulesAuthorizer(
      DocumentRulesSet(common: nil), showsReasons: showsReasons, onDenial: onDenial,
      onOmitted: onOmitted)
  }

  public var namesDependencies: Bool { base.namesDependencies }

  public func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool { base.allows(access, by: requester, now: now, documents: documents) }

  public func blanketVerdict(for requester: Requester) -> Bool? {
    base.blanketVerdict(for: requester)
  }

  public func verdict(
    on accesses: [DocumentAccess], by requester: Requester, time: DocumentTimestamp,
    in state: DocumentAccessState
  ) -> DocumentVerdict { base.verdict(on: accesses, by: requester, time: time, in: state) }

  public func judging(by rules: DocumentRules) -> any DocumentAuthorizer {
    ruled.judging(by: rules)
  }
}
