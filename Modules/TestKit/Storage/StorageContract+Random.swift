public import TernStorage

extension StorageContract {
  static let randomChecks = [UInt64(1), 2, 3, 4].map { seed in
    StoreCheck("random operations agree with a sorted array, seed \(seed)") { store in
      try runRandomOperations(on: store, seed: seed, steps: 250)
    }
  }

  /// Compares `store`, which is empty, with a ``StoreModel`` over random transactions.
  ///
  /// - Throws: ``StoreCheckFailure`` naming the seed and the step at the first difference.
  public static func runRandomOperations(
    on store: any OrderedStore, seed: UInt64, steps: Int
  ) throws {
    var world = RandomOperations(seed: seed)
    for step in 0..<steps {
      do {
        try world.transact(on: store)
        try world.compare(with: store)
      } catch {
        throw StoreCheckFailure("seed \(seed), step \(step): \(error)")
      }
    }
  }
}

/// Random transactions, applied to a store and a model alike.
///
/// A seed gives the same operations on every backend, so a failure can be repeated.
private struct RandomOperations {
  private var random: SeededGenerator
  private var model = StoreModel()

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// Makes one transaction of up to 12 changes, of which one in eight is abandoned in the end.
  mutating func transact(on store: any OrderedStore) throws {
    var changes: [(put: [UInt8]?, range: KeyRange)] = []
    for _ in 0..<(Int(random.next() % 12) + 1) {
      switch random.next() % 10 {
      case 0: changes.append((nil, range()))
      case 1, 2: changes.append((nil, KeyRange(only: key())))
      default: changes.append((value(), KeyRange(only: key())))
      }
    }
    let isKept = random.next() % 8 != 0
    let made = changes
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        for change in made {
          if let value = change.put {
            try transaction.put(value, for: change.range.lower)
          } else if change.range.upper == change.range.lower + [0] {
            try transaction.remove(change.range.lower)
          } else {
            try transaction.remove(in: change.range)
          }
        }
        if !isKept { throw .abandoned }
      }
    } catch { if error != .abandoned { throw error } }
    guard isKept else { return }
    for change in changes {
      if let value = change.put {
        model.put(value, for: change.range.lower)
      } else {
        model.remove(change.range)
      }
    }
  }

  /// Compares a scan forwards, one backwards with a limit, and a look-up.
  mutating func compare(with store: any OrderedStore) throws {
    let range = range()
    let limit = Int(random.next() % 40)
    let expected = model.rows(range)
    try expect(store.rows(range) == expected, "the range \(range) differs")
    let last = Array(expected.reversed().prefix(limit))
    try expect(store.rows(range, isReversed: true, limit: limit) == last, "backward \(range)")
    let key = key()
    try expect(store.value(key) == model.rows(KeyRange(only: key)).first?.value, "get \(key)")
  }

  /// Returns a range, also an empty one whose ends come in the wrong order.
  private mutating func range() -> KeyRange {
    switch random.next() % 4 {
    case 0: KeyRange(from: key(), to: key())
    case 1: KeyRange(from: key())
    case 2: KeyRange(prefix: Array(key().prefix(2)))
    default: .all
    }
  }

  /// Few different bytes and lengths around the limits of backends, so that keys collide.
  private mutating func key() -> [UInt8] {
    let counts = [0, 1, 2, 3, 4, 8, 508, 509, 510, 511, 512, 1_010, 1_011, 1_600]
    let count = counts[Int(random.next() % UInt64(counts.count))]
    var key = [UInt8](repeating: random.next() % 2 == 0 ? 0 : 0xFF, count: count)
    for _ in 0..<3 where count > 0 {
      let place = random.next() % 2 == 0 ? count - 1 : Int(random.next() % UInt64(count))
      key[place] = [0, 1, 0x80, 0xFF][Int(random.next() % 4)]
    }
    return key
  }

  /// Returns a value, mostly a small one; one in sixteen has up to 9,000 bytes.
  private mutating func value() -> [UInt8] {
    let count = random.next() % 16 == 0 ? random.next() % 9_000 : random.next() % 60
    return [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: Int(count))
  }
}
