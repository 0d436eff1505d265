import Foundation
import Testing

@testable import TernFirebaseCompat

@Suite struct TreeQueryTests {
  private func keys(_ query: DatabaseQuery) async throws -> [String] {
    try await query.getData().children.compactMap { ($0 as? DataSnapshot)?.key }
  }

  @Test("children come by priority, then key, and bounds of priorities include or leave out")
  func priorities() async throws {
    let server = try await LocalServer()
    let database = server.database()
    let list = database.reference(withPath: "list")
    for (key, priority) in [("a", 3), ("b", 1), ("c", 2), ("d", 2)] {
      try await list.child(key).setValue(key, andPriority: priority)
    }
    try await list.child("z").setValue("none")
    let ordered = list.queryOrderedByPriority()
    #expect(try await keys(ordered) == ["z", "b", "c", "d", "a"])
    #expect(try await keys(ordered.queryStarting(atValue: 2)) == ["c", "d", "a"])
    #expect(try await keys(ordered.queryStarting(atValue: 2, childKey: "d")) == ["d", "a"])
    #expect(try await keys(ordered.queryStarting(afterValue: 2, childKey: "c")) == ["d", "a"])
    #expect(try await keys(ordered.queryEnding(atValue: 2, childKey: "c")) == ["z", "b", "c"])
    #expect(try await keys(ordered.queryEnding(beforeValue: 2)) == ["z", "b"])
    #expect(
      try await keys(ordered.queryEnding(beforeValue: 2, childKey: "d")) == ["z", "b", "c"])
    #expect(try await keys(ordered.queryEqual(toValue: 2, childKey: "d")) == ["d"])
    await database.app.delete()
    await server.close()
  }

  @Test("ends of values and keys, and a window between two bounds")
  func endings() async throws {
    let server = try await LocalServer()
    let database = server.database()
    let list = database.reference(withPath: "list")
    try await list.setValue(["a": 1, "b": 2, "c": 2, "d": 3])
    let byValue = list.queryOrderedByValue()
    #expect(try await keys(byValue.queryEnding(atValue: 2)) == ["a", "b", "c"])
    #expect(try await keys(byValue.queryEnding(beforeValue: 2)) == ["a"])
    #expect(
      try await keys(byValue.queryStarting(afterValue: 1).queryEnding(beforeValue: 3)) == [
        "b", "c",
      ]
    )
    let byKey = list.queryOrderedByKey()
    #expect(try await keys(byKey.queryEnding(atValue: "b")) == ["a", "b"])
    #expect(try await keys(byKey.queryEnding(beforeValue: "b")) == ["a"])
    #expect(
      try await keys(byKey.queryEnding(atValue: "c").queryLimited(toLast: 2)) == ["b", "c"])
    await database.app.delete()
    await server.close()
  }

  @Test("a bound that is none is an error of the read, not a wrong result")
  func badBounds() async throws {
    let server = try await LocalServer()
    let database = server.database()
    let list = database.reference(withPath: "list").queryOrderedByValue()
    for query in [
      list.queryEnding(atValue: ["a": 1]), list.queryEnding(beforeValue: Date()),
      list.queryEnding(atValue: 1, childKey: "a.b"),
    ] {
      await #expect(throws: NSError.self) { try await query.getData() }
    }
    await database.app.delete()
    await server.close()
  }
}
