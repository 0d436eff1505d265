import TernStorage

extension StorageContract {
  /// Checks of single rows: values, the empty key, and the order of bytes.
  static let rowChecks = [
    StoreCheck("a value comes back as it was put") { store in
      try store.put([("a", "1"), ("b", "")])
      try expect(store.value(bytes("a")) == bytes("1"), "a is 1")
      try expect(store.value(bytes("b")) == [], "b is empty, not missing")
      try expect(store.value(bytes("c")) == nil, "c is missing")
    },
    StoreCheck("a second put takes the place of the first") { store in
      try store.put([("a", "1"), ("a", "22"), ("b", "3")])
      try store.put([("a", "a much longer value than before")])
      try store.put([("b", "4")])
      try expect(
        store.rows().map(\.value) == [bytes("a much longer value than before"), bytes("4")],
        "the last values are there")
    },
    StoreCheck("the empty key is a key, and the least") { store in
      try store.put([("", "nothing"), ("a", "1")])
      try expect(store.value([]) == bytes("nothing"), "it has its value")
      try expect(store.keys() == ["", "a"], "it comes first")
      try store.write { transaction throws(StorageError) in try transaction.remove([UInt8]()) }
      try expect(store.keys() == ["a"], "it is gone")
    },
    StoreCheck("removing takes one key, and a missing one is no error") { store in
      try store.put([("a", "1"), ("ab", "2"), ("b", "3")])
      try store.write { transaction throws(StorageError) in
        try transaction.remove(bytes("a"))
        try transaction.remove(bytes("zz"))
      }
      try expect(store.keys() == ["ab", "b"], "only a is gone")
    },
    StoreCheck("keys compare as unsigned bytes, a prefix before its extensions") { store in
      let keys: [[UInt8]] = [[], [0], [0, 0], [0, 1], [1], [0x7F], [0x80], [0xFF], [0xFF, 0]]
      try store.write { transaction throws(StorageError) in
        for key in keys.reversed() { try transaction.put(key, for: key) }
      }
      try expect(store.rows().map(\.key) == keys, "forward")
      try expect(store.rows(isReversed: true).map(\.key) == keys.reversed(), "backward")
    },
    StoreCheck("the bodies of gets may nest") { store in
      try store.put([("a", "1"), ("b", "2")])
      try store.read { snapshot throws(StorageError) in
        let (a, b) = (bytes("a"), bytes("b"))
        let both = try snapshot.withValue(for: a.span) { first throws(StorageError) in
          let second = try snapshot.get(b)
          return [UInt8](copying: first) + (second ?? [])
        }
        if both != bytes("12") { throw .backend(operation: "nested gets differ", code: 0) }
      }
    },
  ]

  /// Checks of scans and removals by range, in both directions.
  static let rangeChecks = [
    StoreCheck("a range holds its lower key and not its upper") { store in
      try store.put([("a", ""), ("b", ""), ("c", ""), ("d", "")])
      let range = KeyRange(from: bytes("b"), to: bytes("d"))
      try expect(store.keys(range) == ["b", "c"], "forward")
      try expect(store.keys(range, isReversed: true) == ["c", "b"], "backward")
      try expect(store.keys(KeyRange(from: bytes("d"), to: bytes("b"))) == [], "turned round")
      try expect(store.keys(KeyRange(from: bytes("bb"))) == ["c", "d"], "between keys")
      try expect(store.keys(KeyRange(only: bytes("b"))) == ["b"], "one key")
    },
    StoreCheck("a limit ends a scan, in both directions") { store in
      try store.put((0..<700).map { ("k" + String($0 + 1000), "v") })
      for limit in [0, 1, 127, 128, 129, 384, 385, 699, 700, 701] {
        let expected = (0..<min(limit, 700)).map { "k" + String($0 + 1000) }
        try expect(store.keys(limit: limit) == expected, "the first \(limit)")
        let last = (0..<min(limit, 700)).map { "k" + String(1699 - $0) }
        try expect(store.keys(isReversed: true, limit: limit) == last, "the last \(limit)")
      }
    },
    StoreCheck("a prefix range holds the prefix and its extensions") { store in
      let keys: [[UInt8]] = [[1], [2], [2, 0], [2, 0xFF, 0xFF], [3], [0xFF], [0xFF, 0xFF]]
      try store.write { transaction throws(StorageError) in
        for key in keys { try transaction.put([], for: key) }
      }
      try expect(store.rows(KeyRange(prefix: [2])).map(\.key) == Array(keys[1...3]), "[2]")
      try expect(store.rows(KeyRange(prefix: [0xFF])).map(\.key) == Array(keys[5...]), "[FF]")
    },
    StoreCheck("removing a range takes all of it and nothing else") { store in
      try store.put((0..<2_000).map { ("k" + String($0 + 10_000), "value \($0)") })
      try store.write { transaction throws(StorageError) in
        try transaction.remove(in: KeyRange(from: bytes("k10100"), to: bytes("k11900")))
      }
      let kept = (Array(0..<100) + Array(1_900..<2_000)).map { "k" + String($0 + 10_000) }
      try expect(store.keys() == kept, "the ends are left")
      try store.write { transaction throws(StorageError) in try transaction.remove(in: .all) }
      try expect(store.keys() == [], "nothing is left")
    },
  ]
}
