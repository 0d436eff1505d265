import Foundation
import TernStorage
import TernStorageLMDB
import TernStorageSQLite
import Testing

/// A backend with files.
enum Disk: String, CaseIterable, CustomTestStringConvertible {
  case sqlite, lmdb

  var testDescription: String { rawValue }
  var file: String { self == .sqlite ? "rows.sqlite" : "rows.mdb" }

  func open(
    _ path: String, _ durability: Durability = .durable, limitBytes: Int? = nil,
    integrity: StoreIntegrity = .pages
  ) throws(StorageError) -> any OrderedStore {
    switch self {
    case .sqlite:
      try SQLiteStore(
        path: path, durability: durability, limitBytes: limitBytes, integrity: integrity)
    case .lmdb: try LMDBStore(path: path, durability: durability, limitBytes: limitBytes)
    }
  }
}

extension OrderedStore {
  func put(_ value: [UInt8], for key: [UInt8]) throws(StorageError) {
    try write { transaction throws(StorageError) in try transaction.put(value, for: key) }
  }

  func get(_ key: [UInt8]) throws(StorageError) -> [UInt8]? {
    try read { snapshot throws(StorageError) in try snapshot.get(key) }
  }

  func scan() throws(StorageError) -> [Row] {
    try read { snapshot throws(StorageError) in try snapshot.scan() }
  }
}

@Suite("stores on disk")
struct DiskStoreTests {
  let directory = TemporaryDirectory()

  @Test("rows are there after reopening", arguments: Disk.allCases, [Durability.durable, .relaxed])
  func reopening(disk: Disk, durability: Durability) throws {
    let long = [UInt8](repeating: 9, count: 3_000)
    var store = try disk.open(directory.path, durability)
    try store.put([1], for: [1])
    try store.put([2], for: long)
    store.close()
    store = try disk.open(directory.path, durability)
    #expect(try store.scan().map(\.key) == [[1], long])
    try store.put([3], for: long + [1])
    #expect(try store.scan().map(\.value) == [[1], [2], [3]])
  }

  @Test("a store without close lets go when it ends", arguments: Disk.allCases)
  func lettingGo(disk: Disk) throws {
    for number in UInt8(0)..<3 {
      let store = try disk.open(directory.path)
      try store.put([number], for: [number])
      #expect(try store.scan().count == Int(number) + 1)
    }
  }

  @Test("a second opening is refused while the first lasts", arguments: Disk.allCases)
  func secondOpening(disk: Disk) throws {
    let store = try disk.open(directory.path)
    #expect(throws: StorageError.inUse(path: directory.path)) { try disk.open(directory.path) }
    try store.read { _ throws(StorageError) in
      store.close()
      var isRefused = false
      do throws(StorageError) { _ = try disk.open(directory.path) } catch {
        isRefused = error == .inUse(path: directory.path)
      }
      #expect(isRefused, "a snapshot still uses the files")
    }
    try disk.open(directory.path).close()
  }

  @Test(
    "where records alone are checked, a flipped bit is an error of its record",
    arguments: Disk.allCases)
  func corruption(disk: Disk) throws {
    let mark = Array("a value to be found in the file".utf8)
    var store = try disk.open(directory.path)
    try store.put([1], for: [1])
    try store.put(mark, for: [2])
    try store.put([3], for: [3])
    store.close()
    try directory.edit(disk.file) { data in
      let place = try #require(data.range(of: Data(mark)))
      data[place.lowerBound + 5] ^= 4
    }
    store = try disk.open(directory.path, integrity: .records)
    #expect(throws: StorageError.corruptRecord(key: [2])) { try store.get([2]) }
    #expect(throws: StorageError.corruptRecord(key: [2])) { try store.scan() }
    #expect(try store.get([3]) == [3])
    var left = mark
    left[5] ^= 4
    let keys: [[UInt8]] = [[2], [3], [4]]
    let found = try store.read { view throws(StorageError) in
      try keys.map { key throws(StorageError) in try view.damagedValue(for: key) }
    }
    #expect(found == [left, [3], nil])
    try store.put(mark, for: [2])
    #expect(try store.get([2]) == mark)
  }

  @Test(
    "a file that was cut to nothing is refused by its name, and nothing beside it is touched",
    arguments: Disk.allCases, [false, true])
  func cutToNothing(disk: Disk, isGone: Bool) throws {
    var store = try disk.open(directory.path)
    try store.put([1], for: [1])
    store.close()
    let whole = try Data(contentsOf: URL(filePath: directory.path + "/" + disk.file))
    if isGone {
      try FileManager.default.removeItem(atPath: directory.path + "/" + disk.file)
    } else {
      try directory.edit(disk.file) { $0.removeAll() }
    }
    for _ in 0..<2 {
      do throws(StorageError) {
        _ = try disk.open(directory.path)
        Issue.record("it opens as an empty store")
      } catch {
        guard case .corruptStore(let reason) = error else { throw error }
        #expect(reason.contains(disk.file))
      }
    }
    // Put back, it is as it was.
    try whole.write(to: URL(filePath: directory.path + "/" + disk.file))
    store = try disk.open(directory.path)
    #expect(try store.get([1]) == [1])
  }

  @Test("a wiped store opens again, also when the wipe was cut short", arguments: Disk.allCases)
  func wiped(disk: Disk) throws {
    var store = try disk.open(directory.path)
    try store.put([1], for: [1])
    try store.wipe()
    store.close()
    store = try disk.open(directory.path)
    try store.put([2], for: [2])
    store.close()
    try Data().write(to: URL(filePath: directory.path + "/wiping"))
    store = try disk.open(directory.path)
    #expect(try store.scan().isEmpty)
  }

  @Test("a damaged record can be removed", arguments: Disk.allCases)
  func removingCorruption(disk: Disk) throws {
    let mark = Array("a value to be found in the file".utf8)
    var store = try disk.open(directory.path)
    try store.put(mark, for: [2])
    store.close()
    try directory.edit(disk.file) { data in
      let place = try #require(data.range(of: Data(mark)))
      data[place.lowerBound] ^= 1
    }
    store = try disk.open(directory.path, integrity: .records)
    try store.write { transaction throws(StorageError) in
      try transaction.remove(in: KeyRange(from: [1], to: [3]))
    }
    #expect(try store.scan().isEmpty)
  }

  @Test("a file of something else is refused", arguments: Disk.allCases)
  func foreignFile(disk: Disk) throws {
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true)
    let url = URL(fileURLWithPath: directory.path).appending(path: disk.file)
    try Data(repeating: 0x41, count: 8_192).write(to: url)
    do throws(StorageError) {
      _ = try disk.open(directory.path)
      Issue.record("it was opened")
    } catch {
      guard case .corruptStore = error else { throw error }
    }
  }

  @Test("a directory that cannot be made is an error with a name", arguments: Disk.allCases)
  func noDirectory(disk: Disk) throws {
    let file = TemporaryDirectory()
    try Data().write(to: URL(fileURLWithPath: file.path))
    #expect(throws: StorageError.cannotOpen(path: file.path + "/store", code: ENOTDIR)) {
      try disk.open(file.path + "/store")
    }
    #if os(Linux)
      #expect(throws: StorageError.readOnly(path: "/sys/tern")) { try disk.open("/sys/tern") }
    #endif
  }

  @Test("a store at its limit refuses puts, then removes and goes on", arguments: Disk.allCases)
  func limit(disk: Disk) throws {
    let store = try disk.open(directory.path, limitBytes: 512 * 1024)
    let value = [UInt8](repeating: 5, count: 8_000)
    var count = 0
    do throws(StorageError) {
      while count < 100 {
        try store.put(value, for: [UInt8(count)])
        count += 1
      }
    } catch { #expect(error == .diskFull) }
    #expect((20..<100).contains(count))
    #expect(try store.scan().count == count)
    try store.write { transaction throws(StorageError) in
      try transaction.remove(in: KeyRange(from: [0], to: [10]))
    }
    try store.put(value, for: [0])
    #expect(try store.scan().count == count - 9)
  }
}

/// A small file system the tests may fill, named by the environment variable `TERN_SMALL_DISK`:
/// `mount -t tmpfs -o size=16m none /some/path`.
private let smallDisk = ProcessInfo.processInfo.environment["TERN_SMALL_DISK"]

@Suite("a full disk", .enabled(if: smallDisk != nil), .serialized)
struct FullDiskTests {
  @Test("rows can be removed from a full disk, and then written", arguments: Disk.allCases)
  func removing(disk: Disk) throws {
    let path = try #require(smallDisk) + "/" + disk.rawValue
    let filler = URL(fileURLWithPath: path + ".filler")
    try Data(count: 4 << 20).write(to: filler)
    defer { try? FileManager.default.removeItem(at: filler) }
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try disk.open(path)
    let value = [UInt8](repeating: 5, count: 8_000)
    var count = 0
    // A store that has met a full disk may make some room in its own files first.
    for _ in 0..<60 {
      do throws(StorageError) {
        while count < 3_000 {
          try store.put(value, for: [UInt8(count / 250), UInt8(count % 250)])
          count += 1
        }
      } catch { #expect(error == .diskFull) }
    }
    #expect((50..<3_000).contains(count))
    #expect(throws: StorageError.diskFull) { try store.put(value, for: [99]) }
    #expect(try store.scan().count == count)
    for number in 0..<20 {
      try store.write { transaction throws(StorageError) in
        try transaction.remove([0, UInt8(number)])
      }
    }
    try FileManager.default.removeItem(at: filler)
    try store.put(value, for: [0, 0])
    #expect(try store.scan().count == count - 19)
  }

  /// Space that is reserved inside a file stays there when other files take the rest of the disk.
  @Test(
    "rows can be removed after any number of starts on a full disk", arguments: Disk.allCases)
  func starts(disk: Disk) throws {
    let path = try #require(smallDisk) + "/starts"
    let fillers = path + ".fillers"
    try FileManager.default.createDirectory(
      atPath: fillers, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: fillers) }
    defer { try? FileManager.default.removeItem(atPath: path) }
    var store = try disk.open(path)
    var count = 0
    do throws(StorageError) {
      while count < 60_000 {
        let value = [UInt8](repeating: 5, count: count % 5 == 0 ? 9_000 : 300)
        try store.put(value, for: key(count))
        count += 1
      }
    } catch { #expect(error == .diskFull) }
    for round in 0..<8 {
      fill(fillers + "/\(round)")
      // Only a write that does not fit tells SQLite that the disk is full.
      if disk == .sqlite {
        #expect(throws: StorageError.diskFull) {
          try store.put([UInt8](repeating: 5, count: 9_000), for: [8])
        }
      }
      for number in 0..<8 {
        try store.write { transaction throws(StorageError) in
          try transaction.remove(key(round * 8 + number))
        }
      }
      store.close()
      store = try disk.open(path)
    }
    #expect(try store.scan().count == count - 64)
    // LMDB uses the pages of what was removed again, although the disk is full.
    if disk == .sqlite { try FileManager.default.removeItem(atPath: fillers) }
    try store.put([1], for: [7])
  }

  /// Pages that wait in the log when the last byte is taken still get into the database, so that
  /// the log is cut off and removals go on.
  @Test("a log of large rows can be moved on a full disk, and removals never end")
  func movingLog() throws {
    let path = try #require(smallDisk) + "/moving"
    let filler = path + ".filler"
    defer { try? FileManager.default.removeItem(atPath: filler) }
    defer { try? FileManager.default.removeItem(atPath: path) }
    var store = try Disk.sqlite.open(path)
    let value = [UInt8](repeating: 5, count: 100_000)
    for number in 0..<12 { try store.put(value, for: key(number)) }
    fill(filler)
    do throws(StorageError) {
      for number in 12..<200 { try store.put(value, for: key(number)) }
      Issue.record("the disk is never full")
    } catch { #expect(error == .diskFull) }
    // As a ledger stores the batch that met the full disk: a row goes, and others come.
    try store.write { transaction throws(StorageError) in
      try transaction.remove(key(0))
      for number in 300..<310 { try transaction.put(value, for: key(number)) }
    }
    for number in 1..<12 {
      try store.write { transaction throws(StorageError) in try transaction.remove(key(number)) }
      if number % 4 == 0 {
        store.close()
        store = try Disk.sqlite.open(path)
      }
    }
    #expect(try store.get(key(305)) == value && store.get(key(5)) == nil)
    try FileManager.default.removeItem(atPath: filler)
    try store.put([1], for: [7])
    try store.put(value, for: [8])
  }

  private func key(_ number: Int) -> [UInt8] {
    Array("\((number &* 7_919) % 10_007)/\(number)".utf8)
  }

  /// Takes what is left of the disk.
  private func fill(_ path: String) {
    guard let file = OutputStream(toFileAtPath: path, append: false) else { return }
    file.open()
    let page = [UInt8](repeating: 1, count: 4_096)
    while unsafe file.write(page, maxLength: page.count) == page.count {}
    file.close()
  }
}
