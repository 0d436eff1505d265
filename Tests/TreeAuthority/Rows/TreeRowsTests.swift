import TernCore
import TernLedger
import TernStorage
import TernStorageMemory
import Testing

@testable import TernTreeRows

struct TreeRowsTests {
  let rows = TreeRows(prefix: Array("tree".utf8) + [0])

  @Test("keys of rows sort as paths do")
  func order() throws {
    let names = [
      "-2147483648", "0", "00", "1", "2", "10", "2147483647", "-2147483649", "-2147483650", "-a",
      "2147483648", "21474836480", "2147483649", "a", "a\u{10000}", "a\u{E000}",
    ]
    let keys = try names.map { try TreeKey($0) }
    for (first, second) in zip(keys, keys.dropFirst()) {
      #expect(first < second)
      let left = rows.key(of: TreePath([first]))
      #expect(bytesPrecede(left, rows.key(of: TreePath([second]))), "\(first) \(second)")
      #expect(bytesPrecede(left, rows.key(of: TreePath([first, "x"]))))
      #expect(bytesPrecede(rows.key(of: TreePath([first, "x"])), rows.key(of: TreePath([second]))))
    }
  }

  @Test("rows hold every tree and give it back", arguments: UInt64(1)...20)
  func roundTrip(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    for _ in 0..<50 {
      let store = MemoryStore()
      let path = random.path(maxDepth: 3)
      let node = random.node(maxDepth: 4)
      try store.write { transaction throws(StorageError) in
        try transaction.apply([.put(key: Array("tree".utf8), value: [1])])
        try transaction.apply([.put(key: Array("tref".utf8), value: [1])])
        try transaction.apply(try rows.overwrite(path, with: node, in: transaction))
      }
      let found = try store.read { snapshot throws(StorageError) in
        try rows.node(at: path, in: snapshot)
      }
      #expect(found == node)
    }
  }

  @Test("overwriting rows does what setting nodes does", arguments: UInt64(1)...40)
  func model(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let store = MemoryStore()
    var model = TreeNode.empty
    for step in 0..<60 {
      let set = random.set()
      model.setNode(set.node, at: set.path)
      try store.write { transaction throws(StorageError) in
        try transaction.apply(try rows.overwrite(set.path, with: set.node, in: transaction))
      }
      let found = try store.read { snapshot throws(StorageError) in
        try rows.node(at: .root, in: snapshot)
      }
      try #require(found == model, "seed \(seed), step \(step): \(set)")
    }
  }

  @Test("a pending reader shows what a store will hold", arguments: UInt64(1)...40)
  func pending(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let store = MemoryStore()
    var model = TreeNode.empty
    for step in 0..<12 {
      let mutations = try store.read { snapshot throws(StorageError) in
        let reader = PendingReader(over: snapshot.reader)
        var mutations: [Mutation] = []
        for _ in 0..<6 {
          let set = random.set()
          model.setNode(set.node, at: set.path)
          let any: any StoreReader = reader
          let changes = try rows.overwrite(set.path, with: set.node, in: Snapshot(any))
          reader.apply(changes)
          mutations += changes
          let view = Snapshot(any)
          #expect(try rows.node(at: .root, in: view) == model, "seed \(seed), step \(step)")
          let down = try view.scan(isReversed: true)
          let up = try view.scan()
          #expect(up == down.reversed(), "seed \(seed), step \(step)")
          for limit in 1...3 {
            #expect(try view.scan(limit: limit) == Array(up.prefix(limit)))
            #expect(try view.scan(isReversed: true, limit: limit) == Array(down.prefix(limit)))
          }
        }
        return mutations
      }
      try store.write { transaction throws(StorageError) in try transaction.apply(mutations) }
      let found = try store.read { snapshot throws(StorageError) in
        try rows.node(at: .root, in: snapshot)
      }
      try #require(found == model, "seed \(seed), step \(step)")
    }
  }

  @Test("children are visited in both directions and within bounds")
  func children() throws {
    let store = MemoryStore()
    var node: TreeNode = [
      "-3": 1, "7": ["x": 1, "y": ["z": true]], "a": "leaf", "b": ["k": 1], "zz": 4,
    ]
    for index in 0..<100 { node.setNode(1, at: TreePath(["b", try TreeKey("n\(index)")])) }
    node.setPriority(3)
    try store.write { transaction throws(StorageError) in
      try transaction.apply(try rows.overwrite("top", with: node, in: transaction))
      try transaction.apply(try rows.overwrite("topper", with: 1, in: transaction))
    }
    try store.read { snapshot throws(StorageError) in
      var seen: [TreeKey] = []
      try rows.forEachChild(of: "top", in: snapshot) { key, child, _ throws(StorageError) in
        seen.append(key)
        #expect(child == node.child(key))
        return true
      }
      #expect(seen == ["-3", "7", "a", "b", "zz"])
      var down: [TreeKey] = []
      try rows.forEachChildReversed(of: "top", from: "7", through: "b", in: snapshot) {
        key, child, _ throws(StorageError) in
        down.append(key)
        #expect(child == node.child(key))
        return down.count < 2
      }
      #expect(down == ["b", "a"])
      #expect(try rows.childKeys(of: "top", in: snapshot) == ["-3", "7", "a", "b", "zz"])
      #expect(try rows.childKeys(of: "top", after: "7", limit: 2, in: snapshot) == ["a", "b"])
      #expect(try rows.node(at: "top/.priority".writable, in: snapshot) == 3)
      #expect(try rows.isEmpty(at: "nothing", in: snapshot))
    }
  }

  @Test("a row that is no part of a tree is damage, not a value")
  func malformed() throws {
    let store = MemoryStore()
    try store.write { transaction throws(StorageError) in
      try transaction.apply([.put(key: rows.prefix + [0x02], value: [1])])
    }
    #expect(throws: StorageError.corruptRecord(key: rows.prefix + [0x02])) {
      try store.read { snapshot throws(StorageError) in try rows.node(at: .root, in: snapshot) }
    }
  }

  @Test("the longest path of a server has rows in the database with the longest name")
  func longPaths() throws {
    // Integers with many zeros take most bytes beside their own.
    let key = try TreeKey(String(repeating: "0", count: 110) + "7")
    let path = TreePath(Array(repeating: key, count: TreeLimits.depth))
    #expect(key.integer == 7 && path.byteCount == TreeLimits.storedPathBytes)
    let name = TreeRows(prefix: Array(repeating: 0x20, count: 1 + 256 + 1))
    #expect(name.key(of: path.appending(.priority)).count <= StorageLimits.keyBytes)
  }
}

extension String {
  fileprivate var writable: TreePath {
    get throws(StorageError) {
      do throws(TreeError) { return try TreePath(writable: self) } catch {
        throw .corruptStore(reason: self)
      }
    }
  }
}
