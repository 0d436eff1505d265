public import TernCore
public import TernQuery

/// Decides as another does; what rules of single databases refuse, it tells.
///
/// A server that has no rules of its own may hold databases that were given some over the wire. Whom
/// they refuse is told an id, and whoever runs the server has to find it somewhere.
public struct ExplainingAuthorizer: Authorizer {
  private let base: any Authorizer
  private let log: DenialLog

  /// Decides as `base` does.
  ///
  /// - Parameters:
  ///   - onDenial: As of ``RulesAuthorizer/init(_:onDenial:onOmitted:)``.
  ///   - onOmitted: As there.
  public init(
    _ base: any Authorizer, onDenial: @escaping @Sendable (RulesExplanation) -> Void,
    onOmitted: (@Sendable (OmittedDenials) -> Void)? = nil
  ) {
    self.base = base
    log = DenialLog(onDenial, onOmitted: onOmitted)
  }

  public func judging(by rules: TreeRules) -> RulesAuthorizer { RulesAuthorizer(rules, log: log) }

  public func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { base.mayRead(path, query, by: requester, now: now, tree: tree) }

  public func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    in state: TreeState
  ) -> Bool { base.mayRead(path, query, by: requester, now: now, in: state) }

  public func readRefusal(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    in state: TreeState
  ) -> AccessRefusal? { base.readRefusal(path, query, by: requester, now: now, in: state) }

  public func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { base.mayWrite(assignments, by: requester, now: now, tree: tree) }

  public func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64, in state: TreeState
  ) -> Bool { base.mayWrite(assignments, by: requester, now: now, in: state) }

  public func writeRefusal(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64, in state: TreeState
  ) -> AccessRefusal? { base.writeRefusal(assignments, by: requester, now: now, in: state) }

  public func preliminaryRefusal(
    ofWriting paths: [TreePath], by requester: Requester, now: Int64, in state: TreeState
  ) -> AccessRefusal? {
    base.preliminaryRefusal(ofWriting: paths, by: requester, now: now, in: state)
  }

  public func hasIndex(for order: TreeOrder, at path: TreePath) -> Bool {
    base.hasIndex(for: order, at: path)
  }
}
