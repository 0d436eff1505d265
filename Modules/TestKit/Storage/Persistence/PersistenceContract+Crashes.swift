import TernStorage

extension PersistenceContract {
  /// The files of an open store, as a crash of the process leaves them, make a store.
  static func crashChecks(of fixture: PersistenceFixture) -> [PersistenceCheck] {
    [
      PersistenceCheck("a crash between writes loses none of them", of: fixture, betweenWrites),
      PersistenceCheck("a crash within a write leaves nothing of it", of: fixture, withinWrite),
    ]
  }

  /// Checks copies of the files between writes. The store stays open: the copy is what a process
  /// leaves that ends without closing it.
  private static func betweenWrites(_ fixture: PersistenceFixture) async throws {
    let folder = try fixture.makeFolder()
    let copy = try fixture.makeFolder()
    let store = try await fixture.open(in: folder)
    for round in 0..<6 {
      try store.write { transaction throws(StorageError) in
        for number in 0...round {
          let value = [UInt8](repeating: UInt8(round), count: 10 + number * 900)
          try transaction.put(value, for: [UInt8(number), UInt8(round)])
        }
        if round > 2 { try transaction.remove([0, UInt8(round - 3)]) }
      }
      try FolderImage(of: folder).write(to: copy)
      let crashed = try await fixture.open(in: copy)
      let (found, expected) = (try crashed.rows(), try store.rows())
      crashed.close()
      try expect(
        found == expected,
        "\(found.count) rows after a crash behind write \(round), not \(expected.count)")
    }
    store.close()
  }

  /// Checks a copy of the files within a write. The copy is made before the transaction ends. The
  /// first opening recovers, and the second one reads what the recovery has left.
  private static func withinWrite(_ fixture: PersistenceFixture) async throws {
    let folder = try fixture.makeFolder()
    let copy = try fixture.makeFolder()
    let store = try await fixture.open(in: folder)
    try store.put([("a", "1"), ("b", "2")])
    let value = [UInt8](repeating: 5, count: 300_000)
    var image: FolderImage?
    try store.write { transaction throws(StorageError) in
      try transaction.remove(bytes("a"))
      try transaction.put(bytes("3"), for: bytes("b"))
      // More than backends hold back in memory.
      for number in UInt8(0)..<16 { try transaction.put(value, for: [0, number]) }
      image = FolderImage(of: folder)
    }
    try image?.write(to: copy)
    var crashed = try await fixture.open(in: copy)
    for opening in 0...1 {
      let rows = try crashed.rows().map { String(decoding: $0.key + $0.value, as: UTF8.self) }
      try expect(
        rows == ["a1", "b2"],
        "\(rows.count) other rows after a crash within a write and \(opening) openings")
      crashed.close()
      if opening == 0 { crashed = try await fixture.open(in: copy) }
    }
    crashed.close()
    try expect(try store.rows().count == 17, "the write itself has other rows")
    store.close()
  }
}
