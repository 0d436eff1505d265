import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernSync

@Suite("Queues of users")
struct UserQueueTests {
  private let store = MemoryStore()

  private func open(
    _ user: String, _ client: UInt128 = 1, users: Int = 100
  ) throws -> (WriteQueue, [QueuedWrite]) {
    try WriteQueue.open(
      store, of: user, limits: QueueLimits(userCount: users), newClient: client)
  }

  @Test("each user has rows, numbers and a stream of their own")
  func apart() throws {
    var (ann, _) = try open("ann", 7)
    var (bob, _) = try open("bob", 8)
    var (nobody, _) = try open("", 9)
    #expect(ann.apply([.append([1]), .append([2])]).last == .stored(id: 2, sequence: 2))
    #expect(bob.apply([.append([3])]) == [.stored(id: 1, sequence: 1)])
    #expect(nobody.apply([.append([4])]) == [.stored(id: 1, sequence: 1)])
    let (again, rows) = try open("ann")
    #expect(again.client == 7 && rows.map(\.payload) == [[1], [2]])
    #expect(try open("bob").1.map(\.payload) == [[3]])
    #expect(try open("").1.map(\.payload) == [[4]])
    #expect(try UserQueues.users(in: store) == ["ann", "bob"])
    #expect(try UserQueues.origin(in: store, newClient: 5) == 9)
  }

  @Test("names that look alike, hold zeros or begin alike are different users")
  func names() throws {
    let users = ["e\u{301}", "\u{e9}", "a", "a\u{0}", "a\u{0}b", "ab", "\u{2}"]
    for (index, user) in users.enumerated() {
      var (queue, rows) = try open(user, UInt128(index + 1))
      #expect(rows.isEmpty)
      _ = queue.apply([.append([UInt8(index)])])
    }
    for (index, user) in users.enumerated() {
      let (queue, rows) = try open(user)
      #expect(queue.client == UInt128(index + 1) && rows.map(\.payload) == [[UInt8(index)]])
    }
    let found = try UserQueues.users(in: store).map(QueueUser.init)
    #expect(Set(found) == Set(users.map(QueueUser.init)) && found.count == users.count)
    #expect(QueueUser(users[0]) != QueueUser(users[1]))
    let long = String(repeating: "x", count: QueueLimits.userBytes + 1)
    #expect(throws: QueueError.userTooLong(bytes: 1_025, limitBytes: 1_024)) { try open(long) }
  }

  @Test("too many users are refused unless a queue is empty, and no write is lost")
  func limit() throws {
    var (ann, _) = try open("ann", 1, users: 2)
    var (bob, _) = try open("bob", 2, users: 2)
    _ = ann.apply([.append([1])])
    _ = bob.apply([.append([2])])
    #expect(throws: QueueError.tooManyUsers(limit: 2)) { try open("cat", 3, users: 2) }
    #expect(try open("bob", 4, users: 2).1.count == 1)
    _ = bob.apply([.settle(id: 1)])
    #expect(try open("cat", 3, users: 2).0.client == 3)
    #expect(try UserQueues.users(in: store) == ["ann", "cat"])
    #expect(try open("ann", 5, users: 2).1.count == 1)
  }

  @Test("damage in one queue is that user's, and is set aside alone")
  func damage() throws {
    let disk = FaultyDisk()
    let store = disk.open()
    for user in ["", "ann", "bob"] {
      var (queue, _) = try WriteQueue.open(store, of: user, newClient: 1)
      _ = queue.apply([.append([1]), .append([2])])
    }
    disk.corrupt(QueueKeys(user: "ann").row(1))
    #expect(throws: QueueError.damaged(id: 1)) {
      try WriteQueue.open(store, of: "ann", newClient: 1)
    }
    for user in ["", "bob"] {
      #expect(try WriteQueue.open(store, of: user, newClient: 1).1.count == 2)
      #expect(try QueueSalvage(of: store, user: user) { _ in true }.isWell)
    }
    #expect(try UserQueues.users(in: store) == ["ann", "bob"])
    let found = try WriteQueue.setDamagedAside(
      in: store, of: "ann", filler: [0], newClient: 1, understands: { _ in true })
    #expect(found.damaged.map(\.id) == [1])
    #expect(try WriteQueue.open(store, of: "ann", newClient: 1).1.map(\.payload) == [[0], [2]])
    #expect(try QueueSalvage(of: store, user: "ann") { _ in true }.setAside.map(\.id) == [1])
  }
}
