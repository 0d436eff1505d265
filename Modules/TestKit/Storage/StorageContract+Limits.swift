import TernStorage

extension StorageContract {
  /// Checks of the largest keys and values: the limit itself is accepted, and one byte more is an
  /// error that changes nothing.
  static let limitChecks = [
    StoreCheck("keys have up to 4,096 bytes") { store in
      let key = [UInt8](repeating: 7, count: StorageLimits.keyBytes)
      try store.write { transaction throws(StorageError) in try transaction.put([1], for: key) }
      try expect(store.value(key) == [1], "the longest key")
      try expectError(.keyTooLong(bytes: 4_097)) { () throws(StorageError) in
        try store.write { transaction throws(StorageError) in
          try transaction.put([1], for: key + [7])
        }
      }
      try expect(store.value(key + [7]) == nil, "a longer key is only missing")
    },
    StoreCheck("values have up to 16 MiB") { store in
      var value = [UInt8](repeating: 7, count: StorageLimits.valueBytes)
      value[value.count - 1] = 9
      let before = value
      try store.write { transaction throws(StorageError) in
        try transaction.put(before, for: [1])
        try transaction.put([2], for: [2])
      }
      try expect(store.value([1]) == value, "the longest value")
      try expect(store.rows().map(\.value.count) == [value.count, 1], "in a scan too")
      value.append(0)
      let tooLong = value
      try expectError(.valueTooLong(bytes: value.count)) { () throws(StorageError) in
        try store.write { transaction throws(StorageError) in
          try transaction.put(tooLong, for: [1])
        }
      }
    },
  ]

  /// Checks of keys around the sizes at which backends store a part of a key elsewhere.
  static let longKeyChecks = [
    StoreCheck("long keys that share their beginnings stay in order") { store in
      var model = StoreModel()
      for count in [1, 2, 500, 508, 509, 510, 511, 512, 1_009, 1_010, 1_011, 1_511, 4_095, 4_096] {
        for last: UInt8 in [0, 1, 0xFE, 0xFF] {
          var key = [UInt8](repeating: 0xFF, count: count)
          key[count - 1] = last
          model.put([last], for: key)
          key[count / 2] = 3
          model.put([last, 3], for: key)
        }
      }
      let rows = model.rows(.all)
      try store.write { transaction throws(StorageError) in
        for row in rows.shuffledBySize { try transaction.put(row.value, for: row.key) }
      }
      try expect(store.rows() == rows, "forward")
      try expect(store.rows(isReversed: true) == rows.reversed(), "backward")
      for lower in rows {
        let tail = model.rows(KeyRange(from: lower.key))
        try expect(store.rows(KeyRange(from: lower.key)) == tail, "from \(lower.key.count)")
        let head = KeyRange(to: lower.key)
        try expect(
          store.rows(head, isReversed: true) == model.rows(head).reversed(),
          "down from \(lower.key.count)")
        try expect(store.value(lower.key) == lower.value, "get \(lower.key.count)")
      }
      try store.write { transaction throws(StorageError) in
        for row in rows where row.key.count > 600 { try transaction.remove(row.key) }
      }
      try expect(store.rows() == rows.filter { $0.key.count <= 600 }, "the short ones are left")
      try store.write { transaction throws(StorageError) in try transaction.remove(in: .all) }
      try expect(store.rows() == [], "nothing is left")
    }
  ]
}

extension [Row] {
  /// Another order than that of the keys.
  fileprivate var shuffledBySize: [Row] {
    sorted { ($0.key.count &* 7_919 % 97, $0.value[0]) < ($1.key.count &* 7_919 % 97, $1.value[0]) }
  }
}
