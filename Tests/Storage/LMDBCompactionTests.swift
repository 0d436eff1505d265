import Foundation
import TernStorage
import TernStorageLMDB
import Testing

@Suite("compaction of an LMDB store")
struct LMDBCompactionTests {
  private let directory = TemporaryDirectory()

  private func fill(_ store: LMDBStore) throws -> [Row] {
    for round in UInt8(0)..<4 {
      try store.write { transaction throws(StorageError) in
        for number in 0..<300 {
          let key = Array("\(number)".utf8) + [UInt8](repeating: 7, count: number % 90 * 10)
          try transaction.put([UInt8](repeating: round, count: 2_000), for: key)
        }
      }
    }
    try store.write { transaction throws(StorageError) in
      try transaction.remove(in: KeyRange(from: [0x32]))
    }
    return try store.scan()
  }

  private var fileBytes: Int {
    get throws { try Data(contentsOf: URL(filePath: directory.path + "/rows.mdb")).count }
  }

  @Test("the rows stay, the file shrinks, and the store goes on", arguments: [true, false])
  func compacted(isDurable: Bool) throws {
    let durability = isDurable ? Durability.durable : .relaxed
    var store = try LMDBStore(path: directory.path, durability: durability)
    let rows = try fill(store)
    let before = try fileBytes
    for _ in 0..<2 {
      try store.compact()
      #expect(try fileBytes < before / 2)
      #expect(try store.scan() == rows)
      store.close()
      store = try LMDBStore(path: directory.path, durability: durability)
      #expect(try store.scan() == rows)
    }
    try store.put([1], for: [1])
    store.close()
    store = try LMDBStore(path: directory.path, durability: durability)
    #expect(try store.get([1]) == [1])
    #expect(try store.scan().count == rows.count + 1)
  }

  @Test("a compaction that was cut short leaves the store as it was, or compacted")
  func cutShort() throws {
    let store = try LMDBStore(path: directory.path)
    let rows = try fill(store)
    let files = ["rows.mdb", "witness"].map { URL(filePath: directory.path + "/" + $0) }
    let old = try files.map { try Data(contentsOf: $0) }
    try store.compact()
    store.close()
    let compacted = try Data(contentsOf: files[0])
    let copy = URL(filePath: directory.path + "/new.mdb")
    // The file, the witness, and the copy; the witness goes before the file does.
    let states: [(Data, Data?, Data?)] = [
      (old[0], old[1], compacted.prefix(9_000)), (old[0], old[1], compacted),
      (old[0], nil, compacted), (compacted, nil, nil),
    ]
    for (file, witness, new) in states {
      try file.write(to: files[0])
      try? FileManager.default.removeItem(at: files[1])
      if let witness { try witness.write(to: files[1]) }
      if let new { try new.write(to: copy) }
      let store = try LMDBStore(path: directory.path)
      #expect(try store.scan() == rows)
      store.close()
      #expect(!FileManager.default.fileExists(atPath: copy.path))
    }
  }

  @Test("a compaction waits for snapshots, and gives up without a trace")
  func snapshots() throws {
    let store = try LMDBStore(path: directory.path)
    let rows = try fill(store)
    try store.read { (_: borrowing Snapshot) throws(StorageError) -> Void in
      let error = #expect(throws: StorageError.self) { try store.compact() }
      #expect(error == .inUse(path: directory.path))
    }
    #expect(!FileManager.default.fileExists(atPath: directory.path + "/new.mdb"))
    #expect(try store.scan() == rows)
    try store.compact()
    #expect(try store.scan() == rows)
  }
}
