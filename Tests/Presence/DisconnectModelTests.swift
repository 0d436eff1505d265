import TernStorage
import TernStorageMemory
import Testing

@testable import TernPresence

@Suite("Operations at the end of sessions, against a plain model")
struct DisconnectModelTests {
  private let rows = PresenceRows(prefix: [7, 0xFF])
  private let limits = PresenceLimits(
    grace: .milliseconds(1_500), deferredWrites: 4, deferredBytes: 12)

  /// Numbers that follow from a seed: a linear congruence, which suffices here.
  private struct Numbers {
    var state: UInt64

    mutating func roll(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
  }

  private typealias Left = (owner: [UInt8], writes: [[UInt8]])

  private func put(_ rows: [Row], removing range: KeyRange? = nil, in store: MemoryStore) throws {
    try store.write { transaction throws(StorageError) in
      if let range { try transaction.remove(in: range) }
      for row in rows { try transaction.put(row.value, for: row.key) }
    }
  }

  private func restored(from store: MemoryStore, now: Int64) throws -> DisconnectOperations {
    var operations = DisconnectOperations(rows: rows, limits: limits)
    try store.read { snapshot throws(StorageError) in
      try operations.restore(from: snapshot, now: now)
    }
    return operations
  }

  @Test("memory, rows and what is handed over agree", arguments: UInt64(1)...25)
  func model(seed: UInt64) throws {
    var random = Numbers(state: seed)
    let store = MemoryStore()
    // Rows of others, around those of the sessions.
    try put([Row(key: [7, 0xFE, 0xFF], value: [1]), Row(key: [8], value: [2])], in: store)
    var operations = DisconnectOperations(rows: rows, limits: limits)
    var model: [UInt128: Left] = [:]
    let ids: [UInt128] = [0, 1, .max, 1 << 64]
    for _ in 0..<80 {
      let id = ids[random.roll(ids.count)]
      let write = [UInt8](repeating: UInt8(random.roll(256)), count: random.roll(6))
      switch random.roll(6) {
      case 0...2:
        let left = model[id] ?? (owner: [UInt8(random.roll(9))], writes: [])
        let bytes = left.writes.reduce(write.count) { $0 + $1.count }
        if left.writes.count == 4 || bytes > 12 {
          #expect(throws: DisconnectOperations.Refusal.self) {
            try operations.append(write, of: id, owner: left.owner)
          }
        } else {
          try put(try operations.append(write, of: id, owner: left.owner), in: store)
          model[id] = (left.owner, left.writes + [write])
        }
      case 3:
        let writes = (0..<random.roll(3)).map { _ in write }
        let change = operations.replace(writes, of: id)
        #expect((change != nil) == (model[id] != nil))
        if let change { try put(change.rows, removing: change.removed, in: store) }
        model[id]?.writes = writes
      case 4:
        guard random.roll(2) == 0 else { continue }
        let end = operations.end(id)
        #expect(end?.estate.writes == model[id]?.writes && end?.estate.owner == model[id]?.owner)
        if let end { try put([], removing: end.rows, in: store) }
        model[id] = nil
      default: operations = try restored(from: store, now: 100)
      }
      for id in ids {
        #expect(operations.hasWrites(id) == (model[id] != nil))
        #expect(operations.estate(of: id)?.writes == model[id]?.writes, "seed \(seed)")
        #expect(operations.estate(of: id)?.owner == model[id]?.owner)
      }
    }
    let again = try restored(from: store, now: 1_000)
    #expect(again.due(at: 2_499) == [])
    #expect(again.due(at: 2_500) == model.keys.sorted())
    #expect(again.nextDue == (model.isEmpty ? nil : 2_500))
    let others = try store.read { snapshot throws(StorageError) in
      (try snapshot.get([7, 0xFE, 0xFF]), try snapshot.get([8]))
    }
    #expect(others.0 == [1] && others.1 == [2])
  }

  @Test(
    "rows that are none of ours are damage",
    arguments: [[], [0], [UInt8](repeating: 0, count: 19), [UInt8](repeating: 0, count: 21)])
  func damage(rest: [UInt8]) throws {
    let store = MemoryStore()
    try put([Row(key: [7, 0xFF] + rest, value: [])], in: store)
    #expect(throws: StorageError.corruptRecord(key: [7, 0xFF] + rest)) {
      try restored(from: store, now: 0)
    }
  }

  @Test("an operation is as large as a row may be", arguments: [-1, 0, 1])
  func largest(excess: Int) throws {
    var roomy = limits
    roomy.deferredBytes = .max
    var operations = DisconnectOperations(rows: rows, limits: roomy)
    let write = [UInt8](repeating: 0, count: StorageLimits.valueBytes + excess)
    if excess > 0 {
      #expect(throws: DisconnectOperations.Refusal.tooManyBytes(limit: StorageLimits.valueBytes)) {
        try operations.append(write, of: 1, owner: [])
      }
      #expect(!operations.hasWrites(1), "what is refused leaves nothing behind")
    } else {
      #expect(
        try operations.append(write, of: 1, owner: []).map(\.value.count) == [0, write.count])
    }
  }
}
