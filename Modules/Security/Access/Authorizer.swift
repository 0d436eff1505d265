public import TernCore
public import TernQuery

/// Where a request comes from.
public struct Requester: Hashable, Sendable {
  /// Who asks.
  public var identity: Identity
  /// Whether the other end is on this machine.
  public var isLocal: Bool
  /// The database asked for.
  public var namespace: String
  /// Where the request came from, without the port; empty when that is not known.
  ///
  /// It is for logs: no decision depends on it, and requesters that differ in it alone are equal.
  public var address: String

  /// A request's origin.
  public init(_ identity: Identity, isLocal: Bool, namespace: String, address: String = "") {
    self.identity = identity
    self.isLocal = isLocal
    self.namespace = namespace
    self.address = address
  }

  public static func == (left: Requester, right: Requester) -> Bool {
    left.isLocal == right.isLocal && left.identity == right.identity
      && left.namespace.hasSameBytes(as: right.namespace)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(identity)
    hasher.combine(isLocal)
    namespace.hashBytes(into: &hasher)
  }
}

/// Decides who may read and write what. Must not block.
public protocol Authorizer: Sendable {
  /// Whether a query may be read or listened to.
  ///
  /// - Parameters:
  ///   - now: The time of the request in milliseconds since 1970.
  ///   - tree: Answers what is at a path, counted from the root.
  func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool

  /// Whether a write may be made, all of it.
  ///
  /// - Parameters:
  ///   - assignments: Each path, counted from the root, with its new node; server values are
  ///     resolved, for a write that is left for later as if it happened now.
  ///   - now: The time of the request in milliseconds since 1970.
  ///   - tree: Answers what is at a path before the write.
  func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool

  /// The same as ``mayRead(_:_:by:now:tree:)``, for authorizers that look at single nodes: then
  /// nothing is read that they do not ask for.
  func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    in state: TreeState
  ) -> Bool

  /// The same as ``mayWrite(_:by:now:tree:)``, for authorizers that look at single nodes.
  func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64, in state: TreeState
  ) -> Bool

  /// Why a query may not be read; `nil` when it may. What a server asks.
  func readRefusal(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    in state: TreeState
  ) -> AccessRefusal?

  /// Why a write may not be made; `nil` when it may. What a server asks.
  func writeRefusal(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64, in state: TreeState
  ) -> AccessRefusal?

  /// Returns a denial of a write that holds whatever the write brings and whatever is stored where
  /// it writes; `nil` when the decision depends on either, or allows the write.
  ///
  /// A server asks before it reads what a write adds to, so that a denied write costs the same
  /// whatever is stored. Default: `nil`.
  ///
  /// - Parameter paths: The paths that are written, counted from the root.
  func preliminaryRefusal(
    ofWriting paths: [TreePath], by requester: Requester, now: Int64, in state: TreeState
  ) -> AccessRefusal?

  /// Whether an index is declared for queries in `order` over the children at `path`. Grants
  /// nothing: listeners are told of one that is missing, and other reads that need it are refused.
  func hasIndex(for order: TreeOrder, at path: TreePath) -> Bool

  /// Who decides in the place of this one about a database that was given rules over the wire.
  /// Refusals are told where this one tells of its own; without another word, nowhere.
  func judging(by rules: TreeRules) -> RulesAuthorizer
}

/// One state of a tree, to be asked in two ways.
public struct TreeState {
  /// Answers about single nodes, without what lies below them.
  public let snapshot: any RulesSnapshot
  /// Answers what is at a path, all of it.
  public let node: (TreePath) -> TreeNode

  /// One state, asked in either way.
  public init(snapshot: any RulesSnapshot, node: @escaping (TreePath) -> TreeNode) {
    self.snapshot = snapshot
    self.node = node
  }
}

extension Authorizer {
  public func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    in state: TreeState
  ) -> Bool {
    mayRead(path, query, by: requester, now: now, tree: state.node)
  }

  public func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64, in state: TreeState
  ) -> Bool {
    mayWrite(assignments, by: requester, now: now, tree: state.node)
  }

  /// Refuses what may not be read, without an id.
  public func readRefusal(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    in state: TreeState
  ) -> AccessRefusal? {
    mayRead(path, query, by: requester, now: now, in: state) ? nil : AccessRefusal()
  }

  /// Refuses what may not be written, without an id.
  public func writeRefusal(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64, in state: TreeState
  ) -> AccessRefusal? {
    mayWrite(assignments, by: requester, now: now, in: state) ? nil : AccessRefusal()
  }

  /// Denies nothing beforehand.
  public func preliminaryRefusal(
    ofWriting paths: [TreePath], by requester: Requester, now: Int64, in state: TreeState
  ) -> AccessRefusal? { nil }

  /// Names no index as missing: what decides without rules has nowhere to declare one.
  public func hasIndex(for order: TreeOrder, at path: TreePath) -> Bool { true }

  /// Judges by the rules, and tells nobody.
  public func judging(by rules: TreeRules) -> RulesAuthorizer { RulesAuthorizer(rules) }
}

/// Allows everything, to whoever is on this machine; nothing to anybody else.
///
/// What a server does as long as nobody tells it better.
public struct AllowLocal: Authorizer {
  /// There is nothing to choose.
  public init() {}

  public func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { requester.isLocal }

  public func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { requester.isLocal }

  public func preliminaryRefusal(
    ofWriting paths: [TreePath], by requester: Requester, now: Int64, in state: TreeState
  ) -> AccessRefusal? { requester.isLocal ? nil : AccessRefusal() }
}

/// Allows everything to everybody. For networks where that is meant.
public struct AllowAll: Authorizer {
  /// There is nothing to choose.
  public init() {}

  public func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { true }

  public func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { true }
}

/// Allows administrators everything, and nobody else anything.
///
/// What a server on a network does that was given no rules.
public struct AllowAdministrators: Authorizer {
  /// There is nothing to choose.
  public init() {}

  public func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { requester.identity == .administrator }

  public func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool { requester.identity == .administrator }

  public func preliminaryRefusal(
    ofWriting paths: [TreePath], by requester: Requester, now: Int64, in state: TreeState
  ) -> AccessRefusal? { requester.identity == .administrator ? nil : AccessRefusal() }
}
