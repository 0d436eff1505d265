import TernCore
import TernQuery
import TernTreeReplica

/// The client's own tree below `.info`, which no server knows.
struct InfoTree: Sendable {
  private static let root = TreePath(unchecked: [.info])
  private var replica = TreeReplica()

  init() {
    // A listener on everything, whose listen is complete, keeps all others complete.
    _ = replica.listen(at: Self.root, for: [])
    _ = set(isConnected: false, serverTimeOffset: 0)
    _ = replica.completeListen(ListenRequest(path: Self.root, query: .all, tag: nil))
  }

  mutating func listen(
    at path: TreePath, query: TreeQuery, for kinds: EventKinds
  ) -> (RegistrationID, [TreeEvent]) {
    let (id, outcome) = replica.listen(at: path, query: query, for: kinds)
    return (id, outcome.events)
  }

  mutating func unlisten(_ id: RegistrationID) { _ = replica.unlisten(id) }

  func value(at path: TreePath, query: TreeQuery) -> TreeNode {
    replica.value(at: path, query: query) ?? .empty
  }

  mutating func set(isConnected: Bool, serverTimeOffset: Int64) -> [TreeEvent] {
    let node: TreeNode = [
      "connected": TreeNode(.bool(isConnected)),
      "serverTimeOffset": TreeNode(.integer(serverTimeOffset)),
    ]
    return replica.applyServer(.overwrite(Self.root, node)).events
  }
}
