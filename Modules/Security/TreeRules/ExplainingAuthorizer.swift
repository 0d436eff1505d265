public import TernCore
public import TernQuery

/// Decides as another authorizer does, and reports what rules of single databases deny.
///
/// A server that has no rules of its own may hold databases that received some over the wire. Their
/// clients get an id with each denial, and the operator of the server must be able to find it.
public struct ExplainingAuthorizer: DenialReporting, TreeIndexing {
  private let base: any Authorizer
  public let denials: DenialLog?

  /// Decides as `base` does.
  ///
  /// - Parameters:
  ///   - onDenial: As of ``DenialLog/init(onDenial:onOmitted:)``.
  ///   - onOmitted: As there.
  public init(
    _ base: any Authorizer, onDenial: @escaping @Sendable (RulesExplanation) -> Void,
    onOmitted: (@Sendable (OmittedDenials) -> Void)? = nil
  ) {
    self.base = base
    denials = DenialLog(onDenial: onDenial, onOmitted: onOmitted)
  }

  public func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict {
    base.mayRead(request, in: state)
  }

  public func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict {
    base.mayWrite(request, in: state)
  }

  public func hasIndex(for order: TreeOrder, at path: TreePath) -> Bool {
    (base as? any TreeIndexing)?.hasIndex(for: order, at: path) ?? true
  }
}
