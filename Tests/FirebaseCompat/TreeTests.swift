import Foundation
import Testing

@testable import TernFirebaseCompat

@Suite struct TreeTests {
  @Test("a transaction returns what became of it")
  func transactions() async throws {
    let server = try await LocalServer()
    let database = server.database()
    let place = database.reference(withPath: "stars")
    let (isCommitted, snapshot) = try await place.runTransactionBlock { data in
      data.value = (data.value as? Int ?? 0) + 1
      return .success(withValue: data)
    }
    #expect(isCommitted && snapshot.value as? Int == 1)
    let (isAborted, same) = try await place.runTransactionBlock { _ in .abort() }
    #expect(!isAborted && same.value as? Int == 1)
    await #expect(throws: NSError.self) {
      try await place.runTransactionBlock { data in
        data.value = Date()
        return .success(withValue: data)
      }
    }
    // A completion may be left out by `nil`.
    place.runTransactionBlock(
      { .success(withValue: $0) }, andCompletionBlock: nil, withLocalEvents: false)
    place.cancelDisconnectOperations(completionBlock: nil)
    #expect(try await place.getData().value as? Int == 1)
    await database.app.delete()
    await server.close()
  }

  @Test("the children of mutable data come in order, and change the whole")
  func mutableChildren() async throws {
    let server = try await LocalServer()
    let database = server.database()
    let place = database.reference(withPath: "list")
    try await place.setValue(["a": 1, "b": 2])
    try await place.runTransactionBlock { data in
      for case let child as MutableData in data.children {
        child.value = (child.value as? Int ?? 0) * 10
      }
      return .success(withValue: data)
    }
    #expect(try await place.getData().value as? [String: Int] == ["a": 10, "b": 20])
    await database.app.delete()
    await server.close()
  }

  @Test("a single event needs no try, and a refused one is a snapshot of nothing")
  func singleEvents() async throws {
    let server = try await LocalServer()
    let database = server.database()
    let place = database.reference(withPath: "list")
    try await place.setValue(["a": 1, "b": 2])
    let first = place.queryOrderedByKey().queryStarting(atValue: "b")
    let (snapshot, previous) = await first.observeSingleEventAndPreviousSiblingKey(of: .childAdded)
    #expect(snapshot.key == "b" && snapshot.value as? Int == 2 && previous == nil)
    let (none, _) = await place.child("a.b").observeSingleEventAndPreviousSiblingKey(of: .value)
    #expect(!none.exists())
    await database.app.delete()
    await server.close()
  }
}
