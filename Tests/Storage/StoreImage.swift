import Foundation
import TernStorage
import TernStorageSQLite
import TernTestKit

/// The files of a store at one moment, and the rows that have to be in it.
struct StoreImage: Sendable {
  var files: [String: Data]
  let rows: [Row]
  /// True when the program was ended while the store was open.
  let isKilled: Bool

  /// Every file of the store in `path` that is read by an opening.
  static func files(in path: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path)
    where name != "lock" && name != "ballast" && name != "rows.sqlite-shm" {
      files[name] = try Data(contentsOf: URL(filePath: path + "/" + name))
    }
    return files
  }

  /// Writes the files to `path`, and removes all others.
  func write(to path: String) throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, data) in files { try data.write(to: URL(filePath: path + "/" + name)) }
  }

  /// A store with small and large rows, long keys, and rows that were replaced and removed.
  static func make(
    isKilled: Bool, seed: UInt64, _ durability: Durability = .durable
  ) throws -> StoreImage {
    let directory = TemporaryDirectory()
    var generator = SeededGenerator(seed: seed)
    let store = try SQLiteStore(path: directory.path, durability: durability)
    var model: [[UInt8]: [UInt8]] = [:]
    for commit in 0..<14 {
      let changes = (0..<12).map { _ in change(commit, &generator) }
      try store.write { transaction throws(StorageError) in
        for (key, value) in changes { try transaction.put(value, for: key) }
        if commit == 8 {
          try transaction.remove(in: KeyRange(prefix: Array("key-2".utf8)))
        }
      }
      for (key, value) in changes { model[key] = value }
      if commit == 8 { model = model.filter { !$0.key.starts(with: Array("key-2".utf8)) } }
      // Some of the rows are in the database itself, others in the log.
      if commit == 6 { try store.compact() }
    }
    if !isKilled { store.close() }
    let files = try files(in: directory.path)
    store.close()
    let rows = model.map { Row(key: $0.key, value: $0.value) }
      .sorted { bytesPrecede($0.key, $1.key) }
    return StoreImage(files: files, rows: rows, isKilled: isKilled)
  }

  private static func change(
    _ commit: Int, _ generator: inout SeededGenerator
  ) -> ([UInt8], [UInt8]) {
    let number = Int.random(in: 0..<90, using: &generator)
    let padding = number % 17 == 0 ? Int.random(in: 300..<1_500, using: &generator) : 0
    let key = "key-\(number)-" + String(repeating: "k", count: number % 17 == 0 ? 700 : 4)
    let length = number % 13 == 0 ? 6_000 + padding : number % 7 == 0 ? 1_200 : 60
    return (Array(key.utf8), (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ commit) })
  }
}

/// The outcome of reading a whole store in every way there is.
enum ImageOutcome: Hashable {
  case right
  /// Errors, and never a wrong or missing value beside them.
  case error
  case wrong(String)

  /// Opens the store in `path`, and compares all that can be read with `rows`.
  static func read(
    _ path: String, _ rows: [Row], _ durability: Durability = .durable
  ) -> ImageOutcome {
    let store: SQLiteStore
    do throws(StorageError) {
      store = try SQLiteStore(path: path, durability: durability)
    } catch { return .error }
    defer { store.close() }
    var outcome = ImageOutcome.right
    func check(_ what: String, _ body: () throws(StorageError) -> Bool) {
      do throws(StorageError) {
        if try !body() { outcome = .wrong(what) }
      } catch {
        if outcome == .right { outcome = .error }
      }
    }
    func scan(_ range: KeyRange, _ isReversed: Bool) throws(StorageError) -> Bool {
      let expected = rows.filter { range.contains($0.key.span) }
      let found = try store.read { snapshot throws(StorageError) in
        try snapshot.scan(range, isReversed: isReversed)
      }
      return found == (isReversed ? expected.reversed() : expected)
    }
    for row in rows {
      check("the row under \(String(decoding: row.key.prefix(12), as: UTF8.self))") {
        () throws(StorageError) in try store.get(row.key) == row.value
      }
    }
    check("a row that is not there") { () throws(StorageError) in
      try store.get(Array("key-5x".utf8)) == nil
    }
    let middle = KeyRange(from: Array("key-3".utf8), to: Array("key-6".utf8))
    for range in [KeyRange.all, middle, KeyRange(from: Array("key-7".utf8))] {
      for isReversed in [false, true] {
        check("a scan") { () throws(StorageError) in try scan(range, isReversed) }
      }
    }
    return outcome
  }
}
