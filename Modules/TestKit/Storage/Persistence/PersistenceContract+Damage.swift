import TernStorage

extension PersistenceContract {
  /// The number of bits that are turned, one at a time.
  ///
  /// Each costs an opening and two readings of the store.
  private static let flips = 60

  /// Damaged files are errors with a name, never values.
  ///
  /// A backend may mend what it can, such as a bit that another copy of the page has right.
  static func damageChecks(of fixture: PersistenceFixture) -> [PersistenceCheck] {
    [
      PersistenceCheck("a turned bit of a value is damage, or set right", of: fixture, turnedValue),
      PersistenceCheck("a turned bit anywhere gives no wrong row", of: fixture, turnedBit),
      PersistenceCheck("files of something else are refused", of: fixture, foreignFiles),
    ]
  }

  /// Makes a store of recognizable rows, and returns them with the store's files.
  private static func image(
    _ fixture: PersistenceFixture, _ random: inout SeededGenerator
  ) async throws -> (rows: [Row], files: FolderImage) {
    let folder = try fixture.makeFolder()
    let store = try await fixture.open(in: folder)
    for round in UInt8(0)..<4 {
      let values = (0..<8).map { number in
        (0..<40 + number * 70).map { _ in UInt8.random(in: 0...255, using: &random) }
      }
      try store.write { transaction throws(StorageError) in
        for (number, value) in values.enumerated() {
          try transaction.put(value, for: bytes("row \(number) of \(round)"))
        }
      }
    }
    let rows = try store.rows()
    store.close()
    return (rows, FolderImage(of: folder))
  }

  /// Turns a bit of each value that is found in the files. Values are random bytes, so each is
  /// found at one place. Backends that store them in another form have none of them in their files,
  /// which the last line allows.
  private static func turnedValue(_ fixture: PersistenceFixture) async throws {
    var random = SeededGenerator(seed: 11)
    let (rows, image) = try await image(fixture, &random)
    let folder = try fixture.makeFolder()
    var found = 0
    for row in rows {
      guard var place = image.place(of: row.value) else { continue }
      found += 1
      place.offset += Int.random(in: 0..<row.value.count, using: &random)
      var damaged = image
      damaged.turn(bit: Int.random(in: 0..<8, using: &random), at: place)
      try damaged.write(to: folder)
      let outcome = await Outcome.read(fixture, folder, rows)
      if case .wrong(let what) = outcome { throw StoreCheckFailure(what) }
    }
    try expect(found == 0 || found > rows.count / 2, "only \(found) values are in the files")
  }

  /// Turns bits anywhere. Bits of indexes, headers and free space are turned as well, where
  /// anything but a wrong row is right.
  private static func turnedBit(_ fixture: PersistenceFixture) async throws {
    var random = SeededGenerator(seed: 12)
    let (rows, image) = try await image(fixture, &random)
    let folder = try fixture.makeFolder()
    for _ in 0..<flips {
      guard let place = image.randomPlace(using: &random) else {
        throw StoreCheckFailure("the folder of the store holds no bytes")
      }
      let bit = Int.random(in: 0..<8, using: &random)
      var damaged = image
      damaged.turn(bit: bit, at: place)
      try damaged.write(to: folder)
      if case .wrong(let what) = await Outcome.read(fixture, folder, rows) {
        let name = image.files[place.file].path
        throw StoreCheckFailure("bit \(bit) of byte \(place.offset) of \(name) is turned: \(what)")
      }
    }
  }

  /// Opens a store whose files hold something else. Every file that is not empty is replaced, and
  /// its name kept.
  private static func foreignFiles(_ fixture: PersistenceFixture) async throws {
    var random = SeededGenerator(seed: 13)
    var (_, image) = try await image(fixture, &random)
    let folder = try fixture.makeFolder()
    for index in image.files.indices where !image.files[index].bytes.isEmpty {
      image.files[index].bytes = [UInt8](repeating: 0x41, count: 8_192)
    }
    try image.write(to: folder)
    var refusal: StorageError?
    do throws(StorageError) { try await fixture.open(in: folder).close() } catch {
      refusal = error
    }
    guard case .corruptStore = refusal else {
      let found = refusal.map { "\($0)" } ?? "no error"
      throw StoreCheckFailure("opening the files of something else is \(found), not corruptStore")
    }
  }
}

/// The result of reading a whole store in both ways there are.
///
/// Both ways must be right: a scan and a look-up may find a row by different pages.
private enum Outcome {
  /// All rows are right, or errors stand for some.
  case safe
  /// A wrong row, a missing one, or an error that does not name damage.
  case wrong(String)

  /// Opens the store in `folder`, and compares all that can be read with `rows`.
  static func read(
    _ fixture: PersistenceFixture, _ folder: String, _ rows: [Row]
  ) async -> Outcome {
    let store: any OrderedStore
    do throws(StorageError) { store = try await fixture.open(in: folder) } catch {
      return isDamage(error) ? .safe : .wrong("the opening throws \(error)")
    }
    defer { store.close() }
    do throws(StorageError) {
      if try store.rows() != rows { return .wrong("a scan returns other rows") }
    } catch {
      if !isDamage(error) { return .wrong("a scan throws \(error)") }
    }
    for row in rows {
      do throws(StorageError) {
        if try store.value(row.key) != row.value {
          return .wrong("another value of \(String(decoding: row.key, as: UTF8.self))")
        }
      } catch {
        if !isDamage(error) { return .wrong("a read throws \(error)") }
      }
    }
    return .safe
  }

  /// Returns true for errors that name damage. A turned bit of a header may read as the format of a
  /// later version.
  private static func isDamage(_ error: StorageError) -> Bool {
    if case .newerFormat = error { return true }
    return error.isCorruption
  }
}
