import Foundation
import Synchronization
import TernStorage
import TernStorageMemory
import TernStorageSQLite
import TernTestKit
import Testing

@Suite("the kit's stores")
struct FaultyStoreTests {
  @Test("a failed sync stops the store until it is opened again", arguments: [true, false])
  func failedSync(isDurable: Bool) throws {
    let disk = FaultyDisk()
    let store = disk.open()
    disk.inject(.failedSync(isDurable: isDurable), after: 1)
    try store.put([1], for: [1])
    #expect(throws: StorageError.syncFailed(code: 5)) { try store.put([2], for: [2]) }
    #expect(throws: StorageError.failed) { try store.get([1]) }
    #expect(throws: StorageError.failed) { try store.put([3], for: [3]) }
    #expect(try disk.open().scan().map(\.key) == (isDurable ? [[1], [2]] : [[1]]))
  }

  @Test("a crash keeps what was durable")
  func crash() throws {
    let disk = FaultyDisk()
    let store = disk.open()
    try store.put([1], for: [1])
    disk.inject(.crash(isDurable: false))
    #expect(throws: StorageError.closed) { try store.put([2], for: [2]) }
    #expect(throws: StorageError.closed) { try store.get([1]) }
    #expect(try disk.open().scan().map(\.key) == [[1]])
  }

  @Test("a crash of a relaxed store goes back to the last sync")
  func relaxedCrash() throws {
    let disk = FaultyDisk(durability: .relaxed)
    let store = disk.open()
    try store.put([1], for: [1])
    disk.sync(store)
    try store.put([2], for: [2])
    disk.crash()
    #expect(try disk.open().scan().map(\.key) == [[1]])
  }

  @Test("puts fail on request, and leave nothing behind")
  func failedPuts() throws {
    let disk = FaultyDisk()
    let store = disk.open()
    disk.inject(.diskFull, after: 1)
    #expect(throws: StorageError.diskFull) {
      try store.write { transaction throws(StorageError) in
        try transaction.put([1], for: [1])
        try transaction.put([2], for: [2])
      }
    }
    #expect(try store.scan().isEmpty)
    disk.inject(.writeError)
    #expect(throws: StorageError.backend(operation: "put", code: 5)) {
      try store.put([1], for: [1])
    }
    try store.put([1], for: [1])
  }

  @Test("a damaged record throws until it is written again")
  func corruptRecord() throws {
    let disk = FaultyDisk()
    let store = disk.open()
    try store.put([1], for: [1])
    disk.corrupt([1])
    #expect(throws: StorageError.corruptRecord(key: [1])) { try store.get([1]) }
    #expect(throws: StorageError.corruptRecord(key: [1])) { try store.scan() }
    try store.put([2], for: [1])
    #expect(try store.get([1]) == [2])
  }

  @Test("a mirror says where its stores differ")
  func mirror() throws {
    let differences = Mutex<[String]>([])
    let (one, two) = (MemoryStore(), MemoryStore())
    let mirror = MirrorStore(one, two) { text in differences.withLock { $0.append(text) } }
    try mirror.put([1], for: [1])
    #expect(try mirror.get([1]) == [1])
    #expect(differences.withLock { $0.isEmpty })
    try two.put([2], for: [1])
    #expect(try mirror.get([1]) == [1])
    #expect(try mirror.scan().count == 1)
    #expect(differences.withLock { $0.count } == 2)
  }

  @Test("stores that wrap others compact and examine them")
  func forwarding() throws {
    let (one, two) = (TemporaryDirectory(), TemporaryDirectory())
    let (first, second) = (
      try SQLiteStore(path: one.path), try SQLiteStore(path: two.path)
    )
    let differences = Mutex<[String]>([])
    let mirror = MirrorStore(RecordingStore(first), second) { text in
      differences.withLock { $0.append(text) }
    }
    for number in UInt8(0)..<40 {
      try mirror.put([UInt8](repeating: number, count: 30_000), for: [number])
    }
    try mirror.write { transaction throws(StorageError) in
      try transaction.remove(in: KeyRange(from: [1], to: [40]))
    }
    try mirror.compact()
    for path in [one.path, two.path] {
      #expect(try StoreImage.files(in: path)["rows.sqlite"]?.count ?? .max < 80_000)
    }
    let inspection = try mirror.verify()
    #expect(inspection.isWell && inspection.bytes > 30_000)
    #expect(differences.withLock { $0.isEmpty })

    let file = try FileHandle(forWritingTo: URL(filePath: two.path + "/rows.sqlite"))
    try file.seek(toOffset: 4_096 * 3 + 100)
    try file.write(contentsOf: Data(repeating: 0xA5, count: 64))
    try file.close()
    _ = try? mirror.verify()
    #expect(differences.withLock { $0.contains { $0.hasPrefix("files: ") } })

    let disk = FaultyDisk()
    let faulty = disk.open()
    try faulty.compact()
    #expect(try faulty.verify().isWell)
    disk.inject(.crash(isDurable: true))
    #expect(throws: StorageError.closed) { try faulty.compact() }
  }

  @Test("a recording tells what was done, in order")
  func recording() throws {
    let store = RecordingStore(MemoryStore())
    try store.put([1], for: [2])
    _ = try store.get([2])
    #expect(store.events == [.put(key: [2], value: [1]), .committed, .read])
  }
}
