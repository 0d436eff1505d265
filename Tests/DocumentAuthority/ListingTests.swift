import TernTestKit
import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

@Suite("lists of documents, collections and parts")
struct ListingTests {
  private func keys(
    _ store: AuthorityStore, _ path: String, by orders: [DocumentOrder] = [],
    showMissing: Bool = false, pageSize: Int
  ) throws -> [String] {
    var keys: [String] = []
    var token: [UInt8] = []
    repeat {
      let page = try store.read { reader throws(StorageError) in
        try store.authority.listings.list(
          CollectionPath(unchecked: path), orderedBy: orders, showMissing: showMissing,
          pageSize: pageSize, token: token, in: reader)
      }.get()
      #expect(page.elements.count <= pageSize)
      keys += page.elements.map { $0.isFound ? $0.key.text : "?" + $0.key.text }
      token = page.nextToken
    } while !token.isEmpty
    return keys
  }

  @Test("documents come page by page, missing ones among them when wanted", arguments: 1...7)
  func documents(pageSize: Int) throws {
    let store = try AuthorityStore()
    for key in ["c/a", "c/b/d/x", "c/b/e/y", "c/c", "c/d/d/x", "c/e", "c/f/d/x/e/z", "cc/a"]
      as [DocumentKey]
    {
      try store.write([set(key, ["n": 1])])
    }
    try store.write([.delete("c/d/d/x")])
    #expect(try keys(store, "c", pageSize: pageSize) == ["c/a", "c/c", "c/e"])
    let all = ["c/a", "?c/b", "c/c", "c/e", "?c/f"]
    #expect(try keys(store, "c", showMissing: true, pageSize: pageSize) == all)
    #expect(try keys(store, "x", showMissing: true, pageSize: pageSize) == [])
  }

  @Test("documents come in another order, page by page", arguments: 1...5)
  func orders(pageSize: Int) throws {
    let store = try AuthorityStore()
    for (id, number) in [("a", 2), ("b", 1), ("c", 2), ("d", 3)] as [(String, Int64)] {
      try store.write([set(DocumentKey(unchecked: "c/" + id), ["n": .integer(number)])])
    }
    let descending = [DocumentOrder("n", isDescending: true)]
    let found = try keys(store, "c", by: descending, pageSize: pageSize)
    #expect(found == ["c/d", "c/c", "c/a", "c/b"])
  }

  @Test("a token of another user is rejected")
  func tokens() throws {
    let store = try AuthorityStore()
    try store.write([set("c/a", [:])])
    for token in [[1, 2, 3], DocumentFields(["x": 1]).bytes] as [[UInt8]] {
      for showMissing in [true, false] {
        let outcome = try store.read { reader throws(StorageError) in
          try store.authority.listings.list(
            CollectionPath(unchecked: "c"), showMissing: showMissing, token: token, in: reader)
        }
        guard case .failure(let status) = outcome else {
          Issue.record("accepted \(token)")
          continue
        }
        #expect(status.code == .invalidArgument)
      }
    }
  }

  @Test("ids of collections, at the top and below a document", arguments: 1...4)
  func collections(pageSize: Int) throws {
    let store = try AuthorityStore()
    for key in ["b/x", "a/x/s/y", "a/x/t/y/u/z", "c/x", "a/z/v/y"] as [DocumentKey] {
      try store.write([set(key, [:])])
    }
    try store.write([.delete("c/x")])
    func ids(_ parent: DocumentKey?) throws -> [String] {
      var ids: [String] = []
      var token: [UInt8] = []
      repeat {
        let page = try store.read { reader throws(StorageError) in
          try store.authority.listings.collectionIDs(
            below: parent, pageSize: pageSize, token: token, in: reader)
        }.get()
        ids += page.elements
        token = page.nextToken
      } while !token.isEmpty
      return ids
    }
    #expect(try ids(nil) == ["a", "b"])
    #expect(try ids("a/x") == ["s", "t"])
    #expect(try ids("a/x/t/y") == ["u"])
    #expect(try ids("b/x") == [])
  }

  @Test("ids of collections as they were", arguments: UInt64(1)...20)
  func pastCollections(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    let store = try AuthorityStore()
    let keys = ["a/x", "a/x/s/y", "a/x/t/y/u/z", "b/x", "b/x/s/y", "c/x"] as [DocumentKey]
    func ids(_ parent: DocumentKey?, at time: DocumentVersion?) throws -> [String] {
      try store.read { reader throws(StorageError) in
        try store.authority.listings.collectionIDs(below: parent, at: time, in: reader)
      }.get().elements
    }
    var history: [(time: DocumentVersion, root: [String], below: [String])] = []
    for _ in 0..<30 {
      let key = keys[Int.random(in: keys.indices, using: &dice)]
      let isDelete = Bool.random(using: &dice)
      let time = try store.write([isDelete ? .delete(key) : set(key, ["n": 1])]).version
      let last = try store.read { reader throws(StorageError) in
        try store.authority.lastVersion(in: reader)
      }
      guard last == time else { continue }
      history.append((time, try ids(nil, at: nil), try ids("a/x", at: nil)))
    }
    for (time, root, below) in history {
      #expect(try ids(nil, at: time) == root)
      #expect(try ids("a/x", at: time) == below)
    }
    store.now += 2 * DocumentAuthorityLimits.changeRetention
    try store.write([set("d/x", [:])])
    _ = try store.sweep(from: 0, limit: 1_000)
    let old = try store.read { reader throws(StorageError) in
      try store.authority.listings.collectionIDs(below: nil, at: history[0].time, in: reader)
    }
    #expect(throws: DocumentStatus.self) { try old.get() }
  }

  @Test("cursors divide a group")
  func partition() throws {
    let store = try AuthorityStore()
    try store.write((0..<100).map { set(DocumentKey(unchecked: "p/\($0)/c/a"), [:]) })
    try store.write((0..<100).map { set(DocumentKey(unchecked: "c/\($0)"), [:]) })
    let group = try DocumentQuery.group("c").ordered(by: .key)
    for count in [1, 3, 9, 500] {
      let cursors = try store.read { reader throws(StorageError) in
        try store.authority.listings.partition(group, into: count, leastPart: 1, in: reader)
      }.get()
      #expect(cursors.count <= count && cursors.count >= min(count, 199))
      var total = 0
      for (start, end) in zip([nil] + cursors, cursors + [nil]) {
        var query = group
        if let start { query = try query.starting(at: start.values) }
        if let end { query = try query.ending(before: end.values) }
        let part = try store.documents(query).count
        #expect(part > 0 && part <= 400 / (count + 1) + 1)
        total += part
      }
      #expect(total == 200)
    }
    let usual = try store.read { reader throws(StorageError) in
      try store.authority.listings.partition(group, into: 9, in: reader)
    }.get()
    #expect(usual.count == 1, "200 documents are worth two parts")
    let plain = try DocumentQuery.group("c").first(3)
    let outcome = try store.read { reader throws(StorageError) in
      try store.authority.listings.partition(plain, into: 2, in: reader)
    }
    guard case .failure = outcome else {
      Issue.record("a limit cannot be divided")
      return
    }
  }
}
