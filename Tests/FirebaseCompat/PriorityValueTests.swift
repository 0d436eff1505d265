import Foundation
import TernCore
import Testing

@testable import TernFirebaseCompat

@Suite struct PriorityValueTests {
  private struct Bottom: Error {}

  private struct Nested: Encodable {
    enum Key: String, CodingKey { case inner }
    let levels: Int

    func encode(to encoder: any Encoder) throws {
      if levels == 0 { throw Bottom() }
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(Nested(levels: levels - 1), forKey: .inner)
    }
  }

  @Test("children of a transaction come by priority, then by key")
  func order() throws {
    let node = try TreeNode(foundation: [
      "a": [".value": 1, ".priority": 2], "b": [".value": 1, ".priority": 1],
      "c": 1, "d": [".value": 1, ".priority": "x"],
    ])
    let children = MutableData(node, key: nil).children.allObjects
    #expect(children.compactMap { ($0 as? MutableData)?.key } == ["c", "b", "a", "d"])
  }

  @Test("NSNull and an empty optional are no priority")
  func null() async throws {
    let none: Any = Int?.none as Any
    for value in [NSNull(), none] {
      #expect(try TreeNode(foundation: [".value": 1, ".priority": value]).priority == nil)
      let data = MutableData(TreeNode(.integer(1)).withPriority(.integer(2)), key: nil)
      data.priority = value
      #expect(data.priority == nil && data.error == nil)
    }
    let database = Database(address: "localhost") { _ in throw CancellationError() }
    let ref = database.reference().child("a")
    let path = try TreePath("a")
    #expect(try ref.assignment(1, priority: NSNull()).get() == .set(path, 1))
    #expect(try ref.prioritization(NSNull()).get() == ref.prioritization(nil).get())
    let cleared = ref.assignment([".value": 1, ".priority": 3], priority: nil)
    #expect(try cleared.get() == .set(path, TreeNode(.integer(1)).withPriority(.integer(3))))
  }

  @Test("values that are nested too deeply are refused before their innermost part")
  func depth() {
    #expect(throws: EncodingError.self) { try FirebaseDataEncoder().encode(Nested(levels: 300)) }
    #expect(throws: Bottom.self) { try FirebaseDataEncoder().encode(Nested(levels: 5)) }
    let leaves = (0..<50).reduce(into: "x" as Any) { inner, _ in inner = [".value": inner] }
    #expect(throws: DatabaseValueError.valueWithChildren(path: "")) {
      try TreeNode(foundation: leaves)
    }
  }

  @Test("calls of a cancelled task return at once, and say so", .timeLimit(.minutes(2)))
  func cancelledCalls() async throws {
    let server = try await LocalServer()
    let database = server.database()
    database.goOffline()
    let ref = database.reference().child("a")
    let calls: [@Sendable () async throws -> Void] = [
      { try await ref.setValue(1) },
      { _ = try await ref.getData() },
      { _ = try await ref.onDisconnectSetValue(1) },
      {
        _ = try await ref.runTransactionBlock { data in
          data.value = 1
          return .success(withValue: data)
        }
      },
    ]
    for call in calls {
      let error = await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        do { try await call() } catch { return DatabaseError(error) }
        return nil
      }.value
      #expect(error == .waitCanceled)
    }
    let event = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await ref.child("b").observeSingleEventAndPreviousSiblingKey(of: .childAdded).0
        .exists()
    }.value
    #expect(!event)
    await database.app.delete()
    await server.close()
  }
}
