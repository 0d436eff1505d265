import TernCore
import TernLedger
import TernStorage
import TernStorageMemory
import Testing

@testable import TernTreeAuthority
@testable import TernTreeRows

struct TreeAuthorityTests {
  let authority = TreeAuthority(rows: TreeRows(prefix: [0x20, 0x00]))
  let store = MemoryStore()
  let places = KnownPaths()

  /// Carries out a write and returns its record.
  @discardableResult
  func commit(_ write: TreeWrite, now: Int64 = 5) throws -> [UInt8] {
    let (mutations, record) = try store.read { snapshot throws(StorageError) in
      let resolved = try authority.resolve(write, now: now, in: snapshot)
      let mutations = try authority.apply(
        resolved, to: PendingReader(over: snapshot.reader), knowing: places)
      return (mutations, TreeRecord(of: resolved.assignments, in: authority.rows).encode())
    }
    try store.write { transaction throws(StorageError) in try transaction.apply(mutations) }
    return record
  }

  func node(at path: TreePath) throws -> TreeNode {
    try store.read { snapshot throws(StorageError) in
      try authority.rows.node(at: path, in: snapshot)
    }
  }

  @Test("what is known of the tree never differs from what is there", arguments: UInt64(1)...60)
  func knownPlaces(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var model = TreeNode.empty
    for step in 0..<60 {
      let set = random.set()
      model.setNode(set.node, at: set.path)
      try commit(.set(set.path, set.node))
      try #require(try node(at: .root) == model, "seed \(seed), step \(step): \(set)")
    }
  }

  @Test("a known leaf is replaced without a look at the disk")
  func knownLeaf() throws {
    try commit(.set("a/b", "one"))
    let blind = PendingReader(over: BlindReader())
    let write = TreeWrite.set("a/b", "two")
    #expect(try authority.apply(write, to: blind, knowing: places).count == 1)
    try commit(.set("a", .empty))
    #expect(throws: StorageError.closed) {
      try authority.apply(write, to: blind, knowing: places)
    }
  }

  @Test("server values count on what is there")
  func serverValues() throws {
    let one = TreeScalar.serverValue(.increment(.integer(1)))
    try commit(.set("n", TreeNode(.integer(41), priority: .integer(5))))
    try commit(.set("n", TreeNode(one, priority: one)))
    #expect(try node(at: "n") == TreeNode(.integer(42), priority: .integer(6)))
    try commit(
      .set(
        "deep",
        TreeNode(
          children: ChildMap(sorted: [
            ("a", TreeNode(one)), ("t", TreeNode(.serverValue(.timestamp))),
          ]))), now: 77)
    try commit(.set("deep/a", TreeNode(one)))
    #expect(try node(at: "deep/a") == TreeNode(.integer(2)))
    #expect(try node(at: "deep/t") == TreeNode(.integer(77)))
  }

  @Test("a hash is that of the node, empty for nothing")
  func hashes() throws {
    try commit(.set("a", TreeNode(.integer(1))))
    try store.read { snapshot throws(StorageError) in
      #expect(
        try authority.holds(
          "YPVfR2bXt/lcDjiQZ8pOkAd3qkQ=", at: "a", in: snapshot, knowing: NodeHashes()) == true)
      #expect(try authority.holds("", at: "a", in: snapshot, knowing: NodeHashes()) == false)
      #expect(try authority.holds("", at: "b", in: snapshot, knowing: NodeHashes()) == true)
      #expect(try authority.holds("x", at: "b", in: snapshot, knowing: NodeHashes()) == false)
      let cut = try authority.holds(
        "x", at: "a", limitBytes: 1, in: snapshot, knowing: NodeHashes())
      #expect(cut == nil)
    }
  }

  @Test("limits are the server's as well")
  func limits() throws {
    let deep = TreePath(Array(repeating: TreeKey(unchecked: "k"), count: 33))
    #expect(throws: TreeRejection.invalid(.tooDeep(count: 33, limit: 32))) {
      try authority.check(.set(deep, TreeNode(.bool(true))))
    }
    let long = TreePath(
      Array(repeating: TreeKey(unchecked: String(repeating: "k", count: 700)), count: 6))
    #expect(throws: TreeRejection.invalid(.pathTooLong(long, limitBytes: 3_584))) {
      try authority.check(.set(long, TreeNode(.bool(true))))
    }
  }

  @Test("a long path is not multiplied by more values than the limit allows")
  func keyBytes() throws {
    let names = (0..<4).map { TreeKey(unchecked: String(repeating: "\($0)", count: 700)) }
    let children = (0..<100_000).map {
      (key: TreeKey(unchecked: "\($0)"), node: TreeNode(.integer(1)))
    }
    let many = TreeNode(children: ChildMap(unsorted: children))
    #expect(throws: TreeRejection.tooManyKeyBytes(limit: TreeAuthority.keyBytes)) {
      try authority.check(.set(TreePath(names), many))
    }
    var deep = many
    for name in names.reversed() { deep = TreeNode(children: ChildMap(sorted: [(name, deep)])) }
    #expect(throws: TreeRejection.tooManyKeyBytes(limit: TreeAuthority.keyBytes)) {
      try authority.check(.set("a", deep))
    }
    try authority.check(.set(TreePath([names[0]]), many))
  }

  @Test("what is known of the tree has a limit in bytes, however long its paths are")
  func knownBytes() {
    let rows = TreeRows(prefix: [0x20, 0x00])
    let names = (0..<4).map { TreeKey(unchecked: String(repeating: "\($0)", count: 700)) }
    let node = TreePath(names)
    for number in 0..<6_000 {
      let leaf = node.appending(TreeKey(unchecked: "\(number)"))
      places.note(TreeNode(.integer(1)), at: leaf, in: rows, [])
    }
    #expect(places.byteCount <= 2 * KnownPaths.limitBytes)
    #expect(places.isPlainLeaf(rows.key(of: node.appending(TreeKey(unchecked: "5999")))))
    #expect(!places.isPlainLeaf(rows.key(of: node.appending(TreeKey(unchecked: "0")))))
    places.forget()
    #expect(places.byteCount == 0)
  }

  @Test("replaying the records from nothing gives the state", arguments: UInt64(1)...30)
  func replay(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var records: [[UInt8]] = []
    for _ in 0..<40 {
      let set = random.set()
      records.append(try commit(.set(set.path, set.node)))
    }
    var replayed = TreeNode.empty
    for bytes in records {
      let record = try #require(TreeRecord(bytes))
      #expect(record.prefix == authority.rows.prefix)
      for entry in record.assignments { replayed.setNode(entry.node, at: entry.path) }
    }
    #expect(try node(at: .root) == replayed, "seed \(seed)")
  }
}

struct DisconnectTreeTests {
  @Test("a set takes up later writes below it and replaces earlier ones")
  func overlap() {
    var tree = DisconnectTree()
    tree.leave(.set("a/b", TreeNode(.integer(1))))
    tree.leave(.set("a", TreeNode(children: ChildMap(sorted: [("c", TreeNode(.integer(2)))]))))
    tree.leave(.set("a/d", TreeNode(.integer(3))))
    tree.leave(.set("z", .empty))
    #expect(tree.assignments.map(\.path) == ["a", "z"])
    #expect(tree.assignments.first?.node.childCount == 2)
  }

  @Test("taking back a child of a set leaves the others")
  func split() {
    var tree = DisconnectTree()
    tree.leave(
      .set(
        "me",
        TreeNode(
          children: ChildMap(sorted: [("at", TreeNode(.integer(1))), ("s", TreeNode(.integer(2)))])
        )))
    tree.cancel(at: "me/s")
    #expect(tree.assignments == [TreeMerge.Entry(path: "me/at", node: TreeNode(.integer(1)))])
    tree.cancel(at: .root)
    #expect(tree.isEmpty)
  }
}

/// A store that cannot be read.
private final class BlindReader: StoreReader {
  func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    throw .closed
  }

  func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    throw .closed
  }
}
