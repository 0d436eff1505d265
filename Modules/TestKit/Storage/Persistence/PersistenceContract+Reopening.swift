import TernStorage

extension PersistenceContract {
  /// Rows outlive their store, and a store has one owner.
  static func reopeningChecks(of fixture: PersistenceFixture) -> [PersistenceCheck] {
    [Durability.durable, .relaxed].map { durability in
      PersistenceCheck("rows are there after reopening (\(durability))", of: fixture) {
        try await reopened($0, durability)
      }
    } + [
      PersistenceCheck("an abandoned write is gone after reopening", of: fixture, abandoned),
      PersistenceCheck("an erased store is empty after reopening", of: fixture, erased),
      PersistenceCheck("a store opens many times", of: fixture, manyTimes),
      PersistenceCheck("a second opening is refused", of: fixture, secondOpening),
    ]
  }

  /// - Parameter durability: Closing makes relaxed stores durable, too.
  private static func reopened(
    _ fixture: PersistenceFixture, _ durability: Durability
  ) async throws {
    let folder = try fixture.makeFolder()
    let long = [UInt8](repeating: 9, count: StorageLimits.keyBytes)
    let large = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
    var store = try await fixture.open(in: folder, durability)
    try store.put([("a", "1"), ("b", "2"), ("c", "3")])
    try store.write { transaction throws(StorageError) in
      try transaction.put(large, for: long)
      try transaction.remove(bytes("a"))
      try transaction.put(bytes("4"), for: bytes("b"))
      try transaction.put([], for: [])
    }
    let written = try store.rows()
    for round in 1...2 {
      store.close()
      store = try await fixture.open(in: folder, durability)
      try expect(try store.rows() == written, "other rows at opening \(round)")
      try expect(try store.value(long) == large, "another large value at opening \(round)")
    }
    try store.put([("b", "5")])
    store.close()
    store = try await fixture.open(in: folder, durability)
    try expect(try store.value(bytes("b")) == bytes("5"), "a write after reopening is lost")
    store.close()
  }

  /// Checks that a body that throws leaves nothing, before and after an opening.
  private static func abandoned(_ fixture: PersistenceFixture) async throws {
    let folder = try fixture.makeFolder()
    var store = try await fixture.open(in: folder)
    try store.put([("a", "1"), ("b", "2")])
    try expectError(.abandoned) { () throws(StorageError) in
      try store.write { transaction throws(StorageError) in
        try transaction.put(bytes("x"), for: bytes("a"))
        try transaction.remove(bytes("b"))
        throw .abandoned
      }
    }
    for opening in 0...1 {
      let rows = try store.rows().map { String(decoding: $0.key + $0.value, as: UTF8.self) }
      try expect(rows == ["a1", "b2"], "\(rows) after an abandoned write and \(opening) openings")
      store.close()
      if opening == 0 { store = try await fixture.open(in: folder) }
    }
  }

  /// Checks that an erasure is durable, and that rows written after it are.
  private static func erased(_ fixture: PersistenceFixture) async throws {
    let folder = try fixture.makeFolder()
    var store = try await fixture.open(in: folder)
    try store.put([("a", "1"), ("b", "2")])
    try store.wipe()
    store.close()
    store = try await fixture.open(in: folder)
    try expect(try store.rows().isEmpty, "rows are back after an erasure")
    try store.put([("c", "3")])
    store.close()
    store = try await fixture.open(in: folder)
    try expect(try store.keys() == ["c"], "a row written after an erasure is lost")
    store.close()
  }

  /// Opens one store a dozen times. Each opening may leave something behind; a dozen of them show
  /// what adds up.
  private static func manyTimes(_ fixture: PersistenceFixture) async throws {
    let folder = try fixture.makeFolder()
    for round in UInt8(0)..<12 {
      let store = try await fixture.open(in: folder)
      try expect(try store.rows().count == Int(round), "a row is lost before opening \(round)")
      try store.write { transaction throws(StorageError) in
        try transaction.put([round], for: [round])
      }
      store.close()
    }
  }

  /// Checks that a second opening within the process is refused and leaves the store as it is.
  private static func secondOpening(_ fixture: PersistenceFixture) async throws {
    let folder = try fixture.makeFolder()
    let first = try await fixture.open(in: folder)
    try first.put([("a", "1")])
    var refusal: StorageError?
    do throws(StorageError) { try await fixture.open(in: folder).close() } catch {
      refusal = error
    }
    guard case .inUse = refusal else {
      let found = refusal.map { "\($0)" } ?? "no error"
      throw StoreCheckFailure("a second opening of an open store is \(found), not inUse")
    }
    try first.put([("b", "2")])
    try expect(try first.keys() == ["a", "b"], "a refused opening changes the store")
    first.close()
    let next = try await fixture.open(in: folder)
    try expect(try next.keys() == ["a", "b"], "rows are lost after a refused opening")
    next.close()
  }
}
