import TernStorage

extension StorageContract {
  /// The state of a store after an erasure.
  static let wipeChecks = [
    StoreCheck("a wiped store is empty and works on") { store in
      let long = [UInt8](repeating: 7, count: StorageLimits.keyBytes)
      try store.put([("a", "1"), ("b", "2")])
      try store.write { transaction throws(StorageError) in
        try transaction.put(bytes("x"), for: long)
      }
      try store.wipe()
      try expect(try store.rows().isEmpty, "rows are left after a wipe")
      try store.put([("b", "3")])
      try expect(try store.keys() == ["b"], "a wiped store takes no rows")
      try expect(try store.value(bytes("b")) == bytes("3"), "a wiped store gives another value")
      try store.wipe()
      try store.wipe()
      try expect(try store.rows().isEmpty, "a store is not wiped again")
    },
    StoreCheck("a closed store is not wiped") { store in
      try store.put([("a", "1")])
      store.close()
      try expectError(.closed) { () throws(StorageError) in try store.wipe() }
    },
  ]
}
