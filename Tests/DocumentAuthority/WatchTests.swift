import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

@Suite("watching documents on a server")
struct WatchTests {
  private func numbers(above bound: Int64) throws -> DocumentQuery {
    try .collection(CollectionPath("c")).where("n", .greaterThan, .integer(bound))
  }

  private func client(_ stream: Int, _ subjects: [WatchTarget.Subject]) -> WatchClient {
    let client = WatchClient(stream: stream)
    for (index, subject) in subjects.enumerated() {
      client.held[Int32(index + 1)] = .init(subject: subject)
    }
    return client
  }

  @Test("the messages of a target's life, in order")
  func life() throws {
    let world = try WatchWorld()
    try world.write([set("c/a", ["n": 1]), set("c/b", ["n": 5])])
    let query = try numbers(above: 2)
    let target = WatchTarget(id: 7, subject: .query(query.target))
    let opening = try world.store.read { reader throws(StorageError) in
      try world.watch.listen(target, on: 1, in: reader)
    }
    let messages = opening.messages(for: 7)
    #expect(messages.count == 3)
    #expect(messages[0] == .target(WatchTargetChange(.added, targets: [7])))
    let b = try world.store.document("c/b")
    #expect(messages[1] == .changed(b, targets: [7], removed: []))
    guard case .target(let current) = messages[2] else {
      Issue.record("CURRENT comes last")
      return
    }
    #expect(current.kind == .current && current.targets == [7] && !current.resumeToken.isEmpty)

    func told(_ mutations: [DocumentMutation]) throws -> [[WatchChange]] {
      try world.write(mutations).map { $0.changes.map { $0.addressed(to: 7) } }
    }
    #expect(try told([set("c/a", ["n": 2]), set("d/a", ["n": 9])]) == [])
    let entered = try told([set("c/a", ["n": 3])])
    #expect(entered == [[.changed(try world.store.document("c/a"), targets: [7], removed: [])]])
    let left = try told([set("c/a", ["n": 1])])
    #expect(left == [[.changed(try world.store.document("c/a"), targets: [], removed: [7])]])
    let gone = try told([.delete("c/b"), .delete("c/a")])
    #expect(gone.count == 1 && gone[0].count == 1)
    guard case .deleted("c/b", _, [7]) = gone[0][0] else {
      Issue.record("a deletion is told as one")
      return
    }
    #expect(world.watch.unlisten(7, on: 1))
    #expect(!world.watch.unlisten(7, on: 1))
    #expect(world.watch.groupCount == 0)
  }

  @Test("a missing document is sent as missing, once it is there as it is")
  func documents() throws {
    let world = try WatchWorld()
    let client = client(1, [.documents(["c/a", "c/b"])])
    try world.listen(client, 1)
    #expect(client.documentCount == 2)
    try world.write([set("c/a", ["n": 1])])
    #expect(client.held[1]?.documents.keys.map(\.text) == ["c/a"])
    try world.write([.delete("c/a")])
    #expect(client.held[1]?.documents.isEmpty == true)
  }

  @Test("targets that cannot be added are refused, and a target wanted once ends by itself")
  func refusals() throws {
    let world = try WatchWorld()
    let subject = WatchTarget.Subject.query(try numbers(above: 0).target)
    func listen(_ id: Int32, isOnce: Bool = false) throws -> [WatchChange] {
      let target = WatchTarget(id: id, subject: subject, isOnce: isOnce)
      return try world.store.read { reader throws(StorageError) in
        try world.watch.listen(target, on: 1, in: reader)
      }.messages(for: id)
    }
    func code(_ messages: [WatchChange]) -> DocumentStatus.Code? {
      guard case .target(let change) = messages.last, case .removed(let status) = change.kind
      else { return nil }
      return status?.code
    }
    #expect(code(try listen(0)) == .invalidArgument)
    let once = try listen(1, isOnce: true)
    #expect(once.last == .target(WatchTargetChange(.removed(nil), targets: [1])))
    #expect(world.watch.groupCount == 0)
    #expect(code(try listen(2)) == nil)
    #expect(code(try listen(2)) == .invalidArgument)
    #expect(world.watch.targets(of: 1).count == 1)
  }

  @Test("a change is matched once for each distinct query that it may concern")
  func matching() throws {
    let world = try WatchWorld()
    for stream in 0..<200 {
      let state = DocumentValue.string("s\(stream % 10)")
      let query = try DocumentQuery.collection(CollectionPath("c")).where("s", .equal, state)
      try world.listen(client(stream, [.query(query.target)]), 1)
    }
    #expect(world.watch.groupCount == 10)
    let deliveries = try world.write([set("c/a", ["s": "s3"])])
    #expect(world.watch.matchCount == 1)
    #expect(deliveries.count == 1 && deliveries[0].subscribers.count == 20)
    try world.write([set("c/a", ["s": "s4"])])
    #expect(world.watch.matchCount == 3)
    try world.write([set("other/a", ["s": "s4"])])
    #expect(world.watch.matchCount == 3)
  }

  @Test("of very many fields that queries fix, only those of the document are looked at")
  func fixedFields() throws {
    let world = try WatchWorld()
    let collection = try DocumentQuery.collection(CollectionPath("c"))
    for number in 0..<200 {
      let path = number.isMultiple(of: 2) ? ["f\(number)"] : ["m", "f\(number)"]
      let query = try collection.where(DocumentFieldPath(unchecked: path), .equal, 1)
      try world.listen(client(number, [.query(query.target)]), 1)
    }
    let fields: DocumentFields = ["f4": 1, "f6": 2, "m": .map(["f7": 1, "f4": 1, "f9": 3])]
    let entered = try world.write([set("c/a", fields)])
    #expect(entered.map { $0.subscribers.map(\.stream) } == [[4], [7]])
    #expect(world.watch.matchCount == 2)
    let left = try world.write([set("c/a", ["f6": 1])])
    #expect(left.map { $0.subscribers.map(\.stream) } == [[4], [6], [7]])
    #expect(world.watch.matchCount == 5)
    // The fields that are looked at are work.
    let many = DocumentMap((0..<160).map { ("g\($0)", .integer(1)) })
    try world.write([set("c/b", DocumentFields(many))])
    #expect(world.watch.matchCount == 15)
  }

  @Test("a change that moves no document of a window is not compared with all of them")
  func windowsInPlace() throws {
    let world = try WatchWorld()
    for first in [Int64(0), 350] {
      try world.write(
        (first..<first + 350).map {
          set(DocumentKey(unchecked: "c/d\($0)"), ["n": .integer($0)])
        })
    }
    let query = try DocumentQuery.collection(CollectionPath("c")).ordered(by: "n").first(320)
    let client = client(1, [.query(query.target)])
    try world.listen(client, 1)
    func matches(_ mutation: DocumentMutation) throws -> Int {
      let before = world.watch.matchCount
      try world.write([mutation])
      let subject = try #require(client.held[1])
      #expect(try subject.documents == world.expected(subject.subject))
      return world.watch.matchCount - before
    }
    #expect(try matches(set("c/d7", ["n": 7, "more": 1])) == 1)
    #expect(client.held[1]?.documents["c/d7"]?.fields?["more" as String] == .integer(1))
    #expect(try matches(set("c/d330", ["n": 330, "more": 1])) == 1, "beyond the limit")
    #expect(try matches(set("c/new", ["n": 5_000])) == 1, "far behind")
    #expect(try matches(set("c/d8", ["n": 5_001])) > 20)
    #expect(try matches(set("c/first", ["n": -1])) > 20)
    #expect(try matches(.delete("c/d9")) > 20)
  }

  @Test("queries whose texts could be confused are watched apart, each with its own result")
  func confusion() throws {
    let world = try WatchWorld()
    try world.write([
      set("p/a/x/1", ["v": 1]), set("c/a", ["a": 1, "b": 2]), set("c/b", ["aascb": 3]),
    ])
    func sorted(_ orders: [DocumentOrder]) -> WatchTarget.Subject {
      let path = CollectionPath(unchecked: "c")
      return .query(DocumentQuery.assembled(.collection(path), orders: orders).target)
    }
    let subjects: [WatchTarget.Subject] = [
      sorted([DocumentOrder("a"), DocumentOrder("b", isDescending: true)]),
      sorted([DocumentOrder("aascb", isDescending: true)]),
      .query(DocumentQuery.assembled(.group("x")).target),
      .query(DocumentQuery.collection(CollectionPath(unchecked: "|cg:x")).target),
      .documents(["c/a", "c/b"]), .documents(["c/b", "c/a", "c/b"]),
    ]
    let clients = subjects.indices.map { client($0, [subjects[$0]]) }
    for client in clients { try world.listen(client, 1) }
    // The two lists name the same documents.
    #expect(world.watch.groupCount == 5)
    for step in 0..<2 {
      for (client, subject) in zip(clients, subjects) {
        #expect(try client.held[1]?.documents == world.expected(subject), "\(step): \(subject)")
      }
      #expect(clients[3].held[1]?.documents.isEmpty == true)
      try world.write([
        set("p/b/x/2", ["v": 2]), set("c/c", ["aascb": 4]), set("c/d", ["a": 5, "b": 6]),
      ])
    }
    let ids = subjects.map { WatchPrefetchID(WatchTarget(id: 1, subject: $0), corrects: false) }
    #expect(Set(ids).count == 5)
  }

  @Test("a listener that comes back is sent what changed, and nothing else")
  func resume() throws {
    let world = try WatchWorld()
    for part in 0..<20 {
      try world.write(
        (0..<50).map { set(DocumentKey(unchecked: "c/\(part)-\($0)"), ["n": .integer(Int64($0))]) })
    }
    let all = client(1, [.query(DocumentQuery.collection(try CollectionPath("c")).target)])
    try world.listen(all, 1)
    #expect(all.documentCount == 1_000)
    world.disconnect(all)
    all.documentCount = 0
    try world.write([set("c/3-7", ["n": 1_000])])
    try world.listen(all, 1)
    #expect(all.documentCount == 1)
    #expect(
      try all.held[1]?.documents
        == world.expected(.query(DocumentQuery.collection(CollectionPath("c")).target)))
  }

  @Test("another database's token, and one from the future, void what is held")
  func strangers() throws {
    let other = try WatchWorld()
    other.store.now += 5_000
    try other.write([set("c/x", ["n": 9])])
    let world = try WatchWorld()
    try world.write([set("c/a", ["n": 3])])
    let client = client(1, [.query(try numbers(above: 0).target)])
    try other.listen(client, 1)
    #expect(client.held[1]?.documents.count == 1)
    client.readTime = .none
    try world.listen(client, 1)
    #expect(client.held[1]?.documents.keys.map(\.text) == ["c/a"])
  }

  @Test("after too long a time, names and what is newer tell what is gone")
  func tooLate() throws {
    let world = try WatchWorld()
    try world.write((0..<100).map { set(DocumentKey(unchecked: "c/\($0)"), ["n": 1]) })
    let query = try numbers(above: 0)
    let client = client(1, [.query(query.target), .query(try query.first(5).target)])
    try world.listen(client, 1)
    try world.listen(client, 2)
    world.disconnect(client)
    try world.write([.delete("c/5"), set("c/6", ["n": 0]), set("c/7", ["n": 2])])
    world.store.now += 2 * DocumentAuthorityLimits.changeRetention
    try world.write([set("d/d", [:])])
    _ = try world.store.sweep(from: 0, limit: 1_000)
    client.documentCount = 0
    try world.listen(client, 1)
    #expect(client.documentCount < 100)
    #expect(try client.held[1]?.documents == world.expected(.query(query.target)))
    try world.listen(client, 2)
    #expect(try client.held[2]?.documents == world.expected(.query(query.first(5).target)))
  }

  @Test("a listener with a wrong number of documents is set right", arguments: [nil, 5])
  func mistakes(limit: Int?) throws {
    let world = try WatchWorld()
    try world.write((0..<40).map { set(DocumentKey(unchecked: "c/\($0)"), ["n": 1]) })
    var query = try numbers(above: 0)
    if let limit { query = try query.first(limit) }
    let subject = WatchTarget.Subject.query(query.target)
    let (client, other) = (client(1, [subject]), client(2, [subject]))
    try world.listen(client, 1)
    try world.listen(other, 1)
    world.disconnect(client)
    try world.write([.delete("c/1"), set("c/7", ["n": 2]), set("c/x", ["n": 2])])
    for key in client.held[1]?.documents.keys.prefix(3) ?? [:].keys.prefix(3) {
      client.held[1]?.documents[key] = nil
    }
    try world.listen(client, 1)
    #expect(try client.held[1]?.documents == world.expected(subject))
    client.documentCount = 0
    world.disconnect(client)
    try world.listen(client, 1)
    #expect(client.documentCount == 0)
  }

  @Test("a listener that lost a document it watches by key is sent it again")
  func lostDocuments() throws {
    let world = try WatchWorld()
    try world.write([set("c/a", ["n": 1]), set("c/b", ["n": 2])])
    let subject = WatchTarget.Subject.documents(["c/a", "c/b", "c/x"])
    let client = client(1, [subject])
    try world.listen(client, 1)
    world.disconnect(client)
    client.documentCount = 0
    try world.listen(client, 1)
    // Only that one is missing is said again.
    #expect(client.documentCount == 1)
    world.disconnect(client)
    client.held[1]?.documents["c/b"] = nil
    try world.listen(client, 1)
    #expect(try client.held[1]?.documents == world.expected(subject))
  }

  @Test("an erasure is sent like a commit, leaves no row, and voids what clients resume with")
  func wipe() throws {
    let world = try WatchWorld()
    try world.write([set("c/a", ["n": 1]), set("c/b", ["n": 2]), set("p/a/c/a", ["n": 3])])
    let group = try DocumentQuery.group("c").ordered(by: "n").first(2)
    let subjects: [WatchTarget.Subject] = [
      .query(try numbers(above: 1).target), .query(group.target), .documents(["c/a"]),
    ]
    let (staying, leaving) = (client(1, subjects), client(2, subjects))
    for id in 1...3 as ClosedRange<Int32> {
      try world.listen(staying, id)
      try world.listen(leaving, id)
    }
    world.disconnect(leaving)
    try world.wipe()
    #expect(staying.held.values.allSatisfy { $0.documents.isEmpty })
    #expect(try world.store.rowCounts().isEmpty)
    try world.write([set("c/z", ["n": 9])])
    for client in [staying, leaving] {
      for id in 1...3 as ClosedRange<Int32> {
        if client === leaving { try world.listen(client, id) }
        #expect(try client.held[id]?.documents == world.expected(subjects[Int(id) - 1]))
      }
    }
  }

  @Test("what is older than wanted is swept, collection by collection")
  func sweeping() throws {
    let world = try WatchWorld()
    for index in 0..<10 { try world.write([set(DocumentKey(unchecked: "c\(index)/a"), [:])]) }
    func changes() throws -> Int {
      try world.store.rowCounts()[DocumentRows.Kind.change.rawValue] ?? 0
    }
    #expect(try changes() == 10)
    world.store.now += 2 * DocumentAuthorityLimits.changeRetention
    try world.write([set("c3/a", ["n": 1])])
    var next: UInt32 = 0
    repeat {
      next = try world.store.sweep(from: next, limit: 3)
    } while next != 0
    #expect(try changes() == 1)
  }
}
