import TernStorage

extension StorageContract {
  /// Checks of atomicity, of isolation between snapshots and writes, and of the end of a store.
  static let transactionChecks = [
    StoreCheck("a transaction reads its own writes") { store in
      try store.put([("a", "1"), ("b", "2")])
      let seen = try store.write { transaction throws(StorageError) in
        try transaction.put(bytes("3"), for: bytes("c"))
        try transaction.remove(bytes("a"))
        let value = try transaction.get(bytes("c"))
        return (value, try transaction.scan().map(\.key))
      }
      try expect(seen.0 == bytes("3"), "the put is seen")
      try expect(seen.1 == [bytes("b"), bytes("c")], "the scan sees both changes")
    },
    StoreCheck("a body that throws leaves nothing behind") { store in
      try store.put([("a", "1")])
      try expectError(.abandoned) { () throws(StorageError) in
        try store.write { transaction throws(StorageError) in
          try transaction.put(bytes("2"), for: bytes("a"))
          try transaction.put(bytes("2"), for: bytes("b"))
          throw .abandoned
        }
      }
      try expect(store.keys() == ["a"], "b was not written")
      try expect(store.value(bytes("a")) == bytes("1"), "a is as before")
      try store.put([("b", "3")])
      try expect(store.keys() == ["a", "b"], "the next transaction works")
    },
    StoreCheck("a snapshot does not see later writes") { store in
      try store.put([("a", "1")])
      try store.read { snapshot throws(StorageError) in
        try store.put([("a", "2"), ("b", "2")])
        let value = try snapshot.get(bytes("a"))
        let keys = try snapshot.scan().map(\.key)
        guard value == bytes("1"), keys == [bytes("a")] else {
          throw .backend(operation: "the snapshot changed", code: 0)
        }
      }
      try expect(store.keys() == ["a", "b"], "a new snapshot sees them")
    },
    StoreCheck("snapshots of different moments live side by side") { store in
      try store.put([("a", "1")])
      let seen = try store.read { first throws(StorageError) in
        try store.put([("a", "2")])
        return try store.read { second throws(StorageError) in
          try store.put([("a", "3")])
          return [try first.get(bytes("a")), try second.get(bytes("a"))]
        }
      }
      try expect(seen == [bytes("1"), bytes("2")], "each its own")
    },
    StoreCheck("a cursor keeps its place over many pages") { store in
      let count = 3_000
      try store.write { transaction throws(StorageError) in
        for number in 0..<count {
          let key = bytes("row " + String(number + 10_000))
          try transaction.put(
            [UInt8](repeating: UInt8(number % 251), count: number % 300), for: key)
        }
      }
      let sizes = try store.read { snapshot throws(StorageError) in
        var sizes: [Int] = []
        var cursor = snapshot.cursor()
        while try cursor.next() { sizes.append(cursor.value.count) }
        return sizes
      }
      try expect(sizes == (0..<count).map { $0 % 300 }, "every row once, in order")
    },
    StoreCheck("errors of the caller's own pass through and undo") { store in
      struct Own: Error { var storage: StorageError? }
      var isOwn = false
      do throws(Own) {
        try store.write(mapping: { Own(storage: $0) }) { transaction throws(Own) in
          do throws(StorageError) { try transaction.put([1], for: [1]) } catch {
            throw Own(storage: error)
          }
          throw Own(storage: nil)
        }
      } catch { isOwn = error.storage == nil }
      try expect(isOwn, "the error came through")
      try expect(store.rows().isEmpty, "nothing was written")
    },
    StoreCheck("a closed store says so") { store in
      try store.put([("a", "1")])
      store.close()
      store.close()
      try expectError(.closed) { () throws(StorageError) in _ = try store.value(bytes("a")) }
      try expectError(.closed) { () throws(StorageError) in try store.put([("a", "1")]) }
    },
    StoreCheck("a snapshot outlives the closing of its store") { store in
      try store.put([("a", "1")])
      let value = try store.read { snapshot throws(StorageError) in
        store.close()
        return try snapshot.get(bytes("a"))
      }
      try expect(value == bytes("1"), "it still reads")
    },
  ]
}
