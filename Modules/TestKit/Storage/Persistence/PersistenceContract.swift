import TernStorage

/// The promises of every storage plugin about names, reopening, crashes, damage and full disks.
///
/// ```swift
/// private let mine = PersistenceFixture(MyPlugin.self, MyPlugin.Options()) { temporaryPath() }
///
/// @Test(arguments: PersistenceContract.checks(of: mine))
/// func persists(check: PersistenceCheck) async throws { try await check.run() }
/// ```
public enum PersistenceContract {
  /// The most bytes that a small store may hold before it is full: 16 MiB.
  public static let smallBytes = 16 << 20

  /// The checks that apply to the backend: by the lifetime of its rows, and by its options.
  public static func checks(of fixture: PersistenceFixture) -> [PersistenceCheck] {
    var checks = [
      PersistenceCheck("two names are two stores", of: fixture, namesAreStores)
    ]
    if fixture.lifetime != .store { checks += reopeningChecks(of: fixture) }
    if fixture.lifetime == .files { checks += crashChecks(of: fixture) + damageChecks(of: fixture) }
    if let small = fixture.smallOpening {
      checks.append(
        PersistenceCheck("a full disk is an error with a name", of: fixture) { fixture in
          try await fullDisk(fixture, small)
        })
    }
    return checks
  }

  /// The names that the parts of a client and a server use.
  private static let names = [
    "", "queue", "cache", "server", "documents/queue", "documents/cache", "trees/queue/queue",
  ]

  /// Checks that each name has rows of its own. Names contain one another, so a backend that cuts
  /// or joins them mixes their rows.
  private static func namesAreStores(_ fixture: PersistenceFixture) async throws {
    let folder = try fixture.makeFolder()
    func open() async throws -> [(name: String, store: any OrderedStore)] {
      var stores: [(name: String, store: any OrderedStore)] = []
      for name in names { stores.append((name, try await fixture.open(name, in: folder))) }
      return stores
    }
    func expectRows(_ stores: [(name: String, store: any OrderedStore)]) throws {
      for (name, store) in stores {
        let found = try store.rows().map { String(decoding: $0.value, as: UTF8.self) }
        try expect(found == [name], "the store \"\(name)\" holds \(found)")
      }
    }
    var stores = try await open()
    for (name, store) in stores { try store.put([("key", name)]) }
    try expectRows(stores)
    if fixture.lifetime != .store {
      for (_, store) in stores { store.close() }
      stores = try await open()
      try expectRows(stores)
    }
    try stores[0].store.wipe()
    try expect(try stores[0].store.rows().isEmpty, "a wiped store holds rows")
    try expectRows(Array(stores.dropFirst()))
    for (_, store) in stores { store.close() }
  }

  /// Fills a store, makes space by removing rows, and writes again.
  private static func fullDisk(
    _ fixture: PersistenceFixture, _ open: PersistenceFixture.Opening
  ) async throws {
    let location = StorageLocation(name: "store", in: try fixture.makeFolder())
    var store = try await open(location)
    let value = [UInt8](repeating: 7, count: 60_000)
    func key(_ number: Int) -> [UInt8] { [1, UInt8(number >> 8), UInt8(number & 0xFF)] }
    func put(_ number: Int) throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        try transaction.put(value, for: key(number))
        try transaction.put([], for: [2] + key(number))
      }
    }
    var count = 0
    var failure: StorageError?
    while failure == nil, count * value.count <= smallBytes {
      do throws(StorageError) {
        try put(count)
        count += 1
      } catch { failure = error }
    }
    guard let failure else { throw StoreCheckFailure("\(smallBytes) bytes do not fill the store") }
    try expect(failure == .diskFull, "a full disk is \(failure), not diskFull")
    try expect(count > 2, "a store of \(count) large rows is full")
    func expectKeys(_ numbers: Range<Int>, _ moment: String) throws {
      let expected = numbers.map(key) + numbers.map { [2] + key($0) }
      let found = try store.rows().map(\.key)
      try expect(found == expected, "\(found.count) of \(expected.count) rows \(moment)")
    }
    try expectKeys(0..<count, "are left by a write that found no space")
    // A removal must succeed on a full disk: it is the way to get space back.
    for number in 0..<count / 2 {
      try store.write { transaction throws(StorageError) in
        try transaction.remove(key(number))
        try transaction.remove([2] + key(number))
      }
    }
    try expectKeys(count / 2..<count, "are left after removals")
    try put(count)
    try expectKeys(count / 2..<count + 1, "are there once there is space again")
    store.close()
    store = try await open(location)
    try expectKeys(count / 2..<count + 1, "are there after reopening")
    store.close()
  }
}
