import TernClient
import TernCore
import TernStorageMemory
import TernSync
import Testing

@Suite("Purging the queue, and names of new children", .timeLimit(.minutes(10)))
struct PurgeTests {
  @Test("a purge takes every pending write back, ends their waits, and nothing is sent later")
  func purge() async throws {
    let home = try await Home()
    let queue = MemoryStore()
    let tern = try home.client(queue: queue)
    let room = tern.tree["room"]
    try await room.set(["title": "Hi", "stars": 1]).acknowledged()
    _ = try await room.values().first { $0.isComplete && !$0.hasPendingWrites }
    var heard = room.values().makeAsyncIterator()
    await tern.goOffline()
    let title = try await room["title"].set("Bye")
    try await room["stars"].increment(by: 1)
    var last = try #require(try await heard.next())
    while last.node != ["title": "Bye", "stars": 2] { last = try #require(try await heard.next()) }

    let dropped = try await tern.tree.purgePendingWrites()
    #expect(dropped.map { $0.assignments.map(\.path) } == [["room/title"], ["room/stars"]])
    await #expect(throws: AcknowledgementError.purged) { try await title.acknowledged() }
    while last.hasPendingWrites { last = try #require(try await heard.next()) }
    #expect(last.node == ["title": "Hi", "stars": 1])
    #expect(await tern.tree.pendingWrites.isEmpty)
    #expect(try await tern.tree.purgePendingWrites().isEmpty)

    // What is written afterwards is sent, and nothing of what was dropped; also after a restart.
    try await room["open"].set(true)
    await tern.close()
    let again = try home.client(queue: queue)
    #expect(await again.tree.pendingWrites.count == 1)
    try await again.tree.waitForPendingWrites()
    let other = try home.client()
    #expect(try await other.tree["room"].get().node == ["title": "Hi", "stars": 1, "open": true])
    await again.close()
    await other.close()
  }

  @Test("new children have names in the order they were made, and nothing is written for them")
  func newChildren() async throws {
    let home = try await Home()
    let tern = try home.client()
    await tern.goOffline()
    let list = tern.tree["list"]
    var keys: [String] = []
    for _ in 1...50 { keys.append(try #require(await list.newChild().path.last).text) }
    #expect(keys == keys.sorted() && Set(keys).count == 50)
    #expect(keys.allSatisfy { $0.utf8.count == 20 })
    #expect(await tern.tree.pendingWrites.isEmpty)
    // A place that is no path stays one: the write says so.
    await #expect(throws: WriteError.self) { try await tern.tree["a.b"].newChild().set(1) }
    await tern.close()
  }
}
