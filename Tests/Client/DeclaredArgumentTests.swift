import TernCore
import TernStorageMemory
import TernSync
import TernTransactions
import Testing

@testable import TernClient

@Suite("Arguments of declared transactions", .timeLimit(.minutes(10)))
struct DeclaredArgumentTests {
  /// Arguments that no store can give back as they are.
  private static let invalid: [TreeNode] = [
    TreeNode.empty.withChild("n", TreeNode(.integer(1)).withPriority(.bool(true))),
    TreeNode(.integer(1)).withPriority(.double(.nan)),
    TreeNode(.serverValue(.increment(.string("x")))),
    TreeNode(.double(.nan)),
  ]

  @Test("what cannot be stored is refused, and the database opens again", arguments: 0..<4)
  func invalidArguments(index: Int) async throws {
    let home = try await Home()
    let queue = MemoryStore()
    let first = try home.client(queue: queue)
    await first.goOffline()
    await first.tree.declareTransaction("add") { arguments, _ in arguments }
    let arguments = Self.invalid[index]
    await #expect(throws: TransactionError.self) {
      try await first.tree["n"].transaction("add", arguments: arguments)
    }
    await first.close()
    let second = try home.client(queue: queue)
    #expect(await second.tree.queueStatus.pending.isEmpty)
    await second.close()
    let rows = try WriteQueue.open(queue, newClient: 1).1
    #expect(rows.isEmpty)
  }
}

extension TreeNode {
  /// The node with a child in its place.
  fileprivate func withChild(_ key: String, _ child: TreeNode) -> TreeNode {
    var node = self
    node.setNode(child, at: TreePath([TreeKey(unchecked: key)]))
    return node
  }
}
