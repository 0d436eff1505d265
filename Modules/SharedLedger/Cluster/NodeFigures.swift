/// The figures of a node since its start.
public struct NodeFigures: Hashable, Sendable {
  /// The batches that were appended, parts of large ones counted singly.
  public var appended = 0
  /// The appends that were refused because another node had taken the lease.
  public var fenced = 0
  /// The appends that were refused because another node had appended.
  public var behind = 0
  /// The attempts whose outcome was not heard at first.
  public var unknown = 0
  /// The attempts that were repeated.
  public var retries = 0
  /// The attempts to advance the checkpoint that failed.
  public var failedCheckpoints = 0
  /// The times that the node took the lease.
  public var terms = 0

  /// Figures of a node that has done nothing.
  public init() {}
}
