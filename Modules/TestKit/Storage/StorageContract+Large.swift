import TernStorage

extension StorageContract {
  /// Rows whose size changes around the limits at which backends store them elsewhere.
  ///
  /// The sizes lie around a kilobyte, a page of 4 KiB, and far beyond it.
  static let largeChecks = [
    StoreCheck("a row may grow and shrink, over every size at which it is kept elsewhere") {
      store in
      let sizes = [0, 50, 900, 985, 990, 1_000, 4_000, 4_100, 70_000, 999, 10, 5_000, 1, 20_000]
      for (round, size) in sizes.enumerated() {
        try store.write { transaction throws(StorageError) in
          for key in ["a", "b", "c"] {
            try transaction.put(value(round, size), for: bytes(key))
          }
        }
        for isReversed in [false, true] {
          try expect(
            store.rows(isReversed: isReversed).allSatisfy { $0.value == value(round, size) },
            "all rows have \(size) bytes")
        }
        try expect(store.value(bytes("b")) == value(round, size), "b has \(size) bytes")
      }
      try expect(store.verify().isWell, "the store is well")
    },
    StoreCheck("large rows are removed one by one and by ranges, and nothing is left of them") {
      store in
      func fill() throws {
        try store.write { transaction throws(StorageError) in
          for number in 0..<60 {
            let size = number % 3 == 0 ? 10 : number * 150
            try transaction.put(value(number, size), for: [UInt8(number)])
          }
        }
      }
      try fill()
      try store.write { transaction throws(StorageError) in
        for number in UInt8(0)..<10 { try transaction.remove([number]) }
        try transaction.remove(in: KeyRange(from: [20], to: [30]))
        try transaction.remove(in: KeyRange(from: [50]))
      }
      let left = (Array(10..<20) + Array(30..<50)).map { [UInt8($0)] }
      try expect(store.rows().map(\.key) == left, "the others are left")
      try expect(store.verify().isWell, "the store is well")
      try fill()
      try expect(store.rows().map(\.value.count).max() == 59 * 150, "they are there again")
      try store.write { transaction throws(StorageError) in
        for number in UInt8(0)..<60 { try transaction.put([1], for: [number]) }
      }
      try expect(store.rows().allSatisfy { $0.value == [1] }, "they are small now")
      try expect(store.verify().isWell, "the store is well")
    },
    StoreCheck("a compacted store has the same rows, and is well") { store in
      try store.write { transaction throws(StorageError) in
        for number in 0..<90 {
          try transaction.put(value(number, number * 70), for: [UInt8(number)])
        }
      }
      try store.write { transaction throws(StorageError) in
        try transaction.remove(in: KeyRange(from: [10], to: [70]))
      }
      let before = try store.rows()
      try store.compact()
      try expect(store.rows() == before, "the rows are the same")
      try expect(store.verify().rows == 30, "the store is well")
      try store.put([("z", "1")])
      try expect(store.value(bytes("z")) == bytes("1"), "it goes on")
    },
  ]

  /// Returns bytes that differ between seeds and between positions.
  private static func value(_ seed: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &+ seed &* 31) }
  }
}
