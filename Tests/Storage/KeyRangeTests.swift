import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@Suite("Ranges of keys, and numbers in bytes")
struct KeyRangeTests {
  /// All keys of up to three of the bytes at the borders.
  static let keys: [[UInt8]] = {
    let bytes: [UInt8] = [0, 1, 0xFE, 0xFF]
    var keys: [[UInt8]] = [[]]
    var last = keys
    for _ in 0..<3 {
      last = last.flatMap { key in bytes.map { key + [$0] } }
      keys += last
    }
    return keys
  }()

  private func range(_ random: inout SeededGenerator) -> KeyRange {
    let keys = Self.keys
    let lower = keys[random.roll(keys.count)]
    return KeyRange(from: lower, to: random.roll(4) == 0 ? nil : keys[random.roll(keys.count)])
  }

  @Test("a range holds the keys between its ends", arguments: UInt64(1)...20)
  func containment(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let (one, other) = (range(&random), range(&random))
      let held = Self.keys.filter { key in
        !key.lexicographicallyPrecedes(one.lower)
          && (one.upper.map { key.lexicographicallyPrecedes($0) } ?? true)
      }
      #expect(Self.keys.filter { one.contains($0.span) } == held)
      if !held.isEmpty { #expect(!one.isEmpty) }
      let shares = held.contains { other.contains($0.span) }
      if shares { #expect(one.overlaps(other) && other.overlaps(one)) }
      #expect(one.overlaps(other) == other.overlaps(one))
      if one.isEmpty { #expect(held.isEmpty && !one.overlaps(other)) }
      if !one.isEmpty { #expect(one.overlaps(one) && one.overlaps(.all)) }
    }
  }

  @Test("ranges overlap when the greater beginning lies in both", arguments: UInt64(1)...20)
  func overlap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let (one, other) = (range(&random), range(&random))
      let begin = bytesPrecede(one.lower, other.lower) ? other.lower : one.lower
      #expect(one.overlaps(other) == (one.contains(begin.span) && other.contains(begin.span)))
    }
  }

  @Test("a prefix holds its extensions and nothing else")
  func prefixes() {
    for prefix in Self.keys {
      let range = KeyRange(prefix: prefix)
      for key in Self.keys {
        #expect(range.contains(key.span) == key.starts(with: prefix), "\(prefix)")
      }
      #expect(!range.isEmpty)
      let only = KeyRange(only: prefix)
      #expect(Self.keys.filter { only.contains($0.span) } == [prefix])
    }
    #expect(KeyRange.successor(ofPrefix: []) == nil)
    #expect(KeyRange.successor(ofPrefix: [0xFF, 0xFF]) == nil)
    #expect(KeyRange.successor(ofPrefix: [1, 0xFF]) == [2])
  }

  @Test("bytes compare as unsigned numbers, a prefix first")
  func order() {
    for left in Self.keys {
      for right in Self.keys {
        let order = compareBytes(left.span, right.span).signum()
        let expected = left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        #expect(order == expected)
        #expect(bytesPrecede(left, right) == (expected < 0))
      }
    }
  }

  @Test("mutations do to a store what they do to a dictionary", arguments: UInt64(1)...15)
  func mutations(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = MemoryStore()
    var model: [[UInt8]: [UInt8]] = [:]
    for step in 0..<40 {
      var mutations: [Mutation] = []
      for _ in 0..<random.roll(4) {
        let key = Self.keys[random.roll(Self.keys.count)]
        mutations.append(
          random.roll(3) == 0
            ? .remove(random.roll(2) == 0 ? KeyRange(only: key) : range(&random))
            : .put(key: key, value: [UInt8(step)]))
      }
      try store.write { transaction throws(StorageError) in try transaction.apply(mutations) }
      for mutation in mutations {
        switch mutation {
        case .put(let key, let value): model[key] = value
        case .remove(let range): model = model.filter { !range.contains($0.key.span) }
        }
      }
      let rows = try store.read { snapshot throws(StorageError) in try snapshot.scan() }
      #expect(Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.value) }) == model)
      for mutation in mutations {
        guard case .put(let key, _) = mutation else { continue }
        #expect(mutation.range == KeyRange(only: key))
      }
    }
  }

  @Test("rows at the borders of their size", arguments: [-1, 0, 1])
  func limits(excess: Int) throws {
    let key = [UInt8](repeating: 1, count: StorageLimits.keyBytes + excess)
    let value = [UInt8](repeating: 2, count: StorageLimits.valueBytes + excess)
    func check(_ mutation: Mutation, _ error: StorageError) throws {
      if excess > 0 {
        #expect(throws: error) { try [mutation].checkLimits() }
        #expect(error.isExcess)
      } else {
        try [mutation].checkLimits()
      }
    }
    try check(.put(key: key, value: []), .keyTooLong(bytes: key.count))
    try check(.put(key: [], value: value), .valueTooLong(bytes: value.count))
    try [Mutation.remove(KeyRange(prefix: key))].checkLimits()
  }
}
