public import TernCore
public import TernQuery

/// The origin of a request.
public struct Requester: Hashable, Sendable {
  /// The identity of the client.
  public var identity: Identity
  /// True when the other end is on this machine.
  public var isLocal: Bool
  /// The database asked for.
  public var namespace: String
  /// The address of the request's origin, without the port; empty when it is unknown.
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

/// A read or a listen, to be decided about.
///
/// Listens are judged when they begin, and again when rules or the client's identity change.
public struct TreeReadRequest: Sendable {
  /// The path, counted from the root.
  public var path: TreePath
  /// The query over the node at the path.
  public var query: TreeQuery
  /// The origin of the request.
  public var requester: Requester
  /// The time of the request in milliseconds since 1970.
  public var now: Int64

  /// A request for what a query selects at a path.
  public init(_ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64) {
    self.path = path
    self.query = query
    self.requester = requester
    self.now = now
  }
}

/// A write, to be decided about as a whole.
public struct TreeWriteRequest: Sendable {
  /// The paths that are written, counted from the root.
  public var paths: [TreePath]
  /// Each path with its new node; server values are resolved, for a write that is left for later as
  /// if it happened now. `nil` when they are not known yet: a server asks about the paths
  /// alone before it reads what a write adds to, so that a denied write costs the same whatever is
  /// stored.
  public var assignments: [TreeMerge.Entry]?
  /// The origin of the request.
  public var requester: Requester
  /// The time of the request in milliseconds since 1970.
  public var now: Int64

  /// A write of nodes.
  public init(_ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64) {
    paths = assignments.map(\.path)
    self.assignments = assignments
    self.requester = requester
    self.now = now
  }

  /// A write of nodes that are not known yet.
  public init(to paths: [TreePath], by requester: Requester, now: Int64) {
    self.paths = paths
    assignments = nil
    self.requester = requester
    self.now = now
  }
}

/// A decision about a request for the tree.
public enum TreeVerdict: Hashable, Sendable {
  /// The request is allowed.
  case allowed
  /// The request is denied; the refusal names the explanation in the operator's log.
  case denied(AccessRefusal)
  /// The decision depends on nodes that are not known yet. Only for writes without
  /// ``TreeWriteRequest/assignments``; elsewhere it denies.
  case undecided

  /// The denial; `nil` for any other verdict.
  public var refusal: AccessRefusal? {
    if case .denied(let refusal) = self { refusal } else { nil }
  }

  /// Allows, or denies without an explanation.
  public init(isAllowed: Bool) { self = isAllowed ? .allowed : .denied(AccessRefusal()) }
}

/// Decides about reads and writes of the tree. Must not block.
///
/// The server calls it while it handles a batch of requests, so an implementation that waits delays
/// every client.
public protocol Authorizer: Sendable {
  /// Decides about a read or a listen.
  ///
  /// - Parameter state: The tree, to be asked for single nodes or for whole ones. Nothing is read
  ///   that is not asked for.
  func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict

  /// Decides about a write, all of it.
  ///
  /// - Parameter state: The tree before the write.
  func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict
}

/// An authorizer that knows the indexes which are declared for queries.
///
/// It grants nothing: listeners get a warning about a missing index, and other reads that need it
/// are rejected. Authorizers without this role name no index as missing.
public protocol TreeIndexing: Sendable {
  /// Returns true when an index is declared for queries in `order` over the children at `path`.
  func hasIndex(for order: TreeOrder, at path: TreePath) -> Bool
}

/// An authorizer that reports denials to a log.
public protocol DenialReporting: Authorizer {
  /// The log; `nil` reports nothing.
  var denials: DenialLog? { get }
}

extension Authorizer {
  /// Returns the authorizer for a database with rules received over the wire. It reports denials to
  /// the log of this one, if it has one.
  public func judging(by rules: TreeRules) -> RulesAuthorizer {
    RulesAuthorizer(rules, denials: (self as? any DenialReporting)?.denials)
  }
}

/// One state of a tree, to be asked in two ways.
///
/// A value is valid only during the call that receives it: its closures read the state of the
/// database at that moment.
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

  /// A state that answers with whole nodes.
  public init(_ node: @escaping (TreePath) -> TreeNode) {
    self.init(snapshot: LookupSnapshot(node), node: node)
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

extension Authorizer {
  /// Returns true when a read is allowed, over a tree that is asked for whole nodes.
  public func mayRead(
    _ path: TreePath, _ query: TreeQuery, by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool {
    withoutActuallyEscaping(tree) { tree in
      let request = TreeReadRequest(path, query, by: requester, now: now)
      return mayRead(request, in: TreeState(tree)) == .allowed
    }
  }

  /// Returns true when a write is allowed, over a tree that is asked for whole nodes.
  public func mayWrite(
    _ assignments: [TreeMerge.Entry], by requester: Requester, now: Int64,
    tree: (TreePath) -> TreeNode
  ) -> Bool {
    withoutActuallyEscaping(tree) { tree in
      let request = TreeWriteRequest(assignments, by: requester, now: now)
      return mayWrite(request, in: TreeState(tree)) == .allowed
    }
  }
}

/// Allows everything to clients on this machine; nothing to others.
///
/// The default of a server without a configuration.
public struct AllowLocal: Authorizer {
  /// There is nothing to choose.
  public init() {}

  public func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict {
    TreeVerdict(isAllowed: request.requester.isLocal)
  }

  public func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict {
    TreeVerdict(isAllowed: request.requester.isLocal)
  }
}

/// Allows everything to every client. For networks where that is meant.
public struct AllowAll: Authorizer {
  /// There is nothing to choose.
  public init() {}

  public func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict { .allowed }

  public func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict {
    .allowed
  }
}

/// Allows everything to administrators, and nothing to others.
///
/// What a server on a network does that was given no rules.
public struct AllowAdministrators: Authorizer {
  /// There is nothing to choose.
  public init() {}

  public func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict {
    TreeVerdict(isAllowed: request.requester.identity == .administrator)
  }

  public func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict {
    TreeVerdict(isAllowed: request.requester.identity == .administrator)
  }
}
