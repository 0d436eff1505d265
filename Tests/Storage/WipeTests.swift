import Foundation
import Synchronization
import TernStorage
import Testing

/// Nothing is left of what was forgotten, whenever the program ends.
@Suite("wiping")
struct WipeTests {
  private static let secret = "a-secret-that-must-go"
  private let directory = TemporaryDirectory()

  /// Rows of all sizes, of which some were replaced and some removed: in pages, freed pages and
  /// log.
  private func fill(_ store: any OrderedStore) throws {
    for round in 0..<3 {
      try store.write { transaction throws(StorageError) in
        for number in 0..<300 {
          let text = "\(Self.secret) \(round) \(number) "
          let repeats = number % 50 == 0 ? 2_000 : 3
          let key = number % 60 == 0 ? String(repeating: text, count: 40) : text
          try transaction.put(
            Array(String(repeating: text, count: repeats).utf8), for: Array(key.utf8))
        }
      }
    }
    try store.write { transaction throws(StorageError) in
      try transaction.remove(in: KeyRange(prefix: Array("\(Self.secret) 1".utf8)))
    }
  }

  /// The files that hold the secret.
  private func traces() throws -> [String] {
    let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    return try files.filter { name in
      let url = URL(fileURLWithPath: directory.path).appending(path: name)
      return try Data(contentsOf: url).range(of: Data(Self.secret.utf8)) != nil
    }
  }

  @Test(
    "no byte of a row is left in any file", arguments: Disk.allCases,
    [Durability.durable, .relaxed])
  func traces(disk: Disk, durability: Durability) throws {
    let store = try disk.open(directory.path, durability)
    try fill(store)
    #expect(try !traces().isEmpty)
    // Rows that are only removed stay readable in the files.
    try store.write { transaction throws(StorageError) in try transaction.remove(in: .all) }
    #expect(try !traces().isEmpty)
    try store.wipe()
    #expect(try traces().isEmpty)
    #expect(try store.scan().isEmpty)
    try store.put([1], for: [2])
    store.close()
    #expect(try traces().isEmpty)
    let again = try disk.open(directory.path, durability)
    #expect(try again.scan() == [Row(key: [2], value: [1])])
    again.close()
  }

  @Test(
    "a wipe that was cut short is finished by the next opening, wherever it stopped",
    arguments: Disk.allCases)
  func crash(disk: Disk) throws {
    let files = FileManager.default
    let store = try disk.open(directory.path)
    try fill(store)
    // The files as a program leaves them that ends without a word.
    let image = TemporaryDirectory()
    try files.copyItem(atPath: directory.path, toPath: image.path)
    store.close()
    let names = try files.contentsOfDirectory(atPath: image.path).filter {
      $0.hasPrefix("rows.")
    }.sorted()
    for removed in 0...names.count {
      try files.removeItem(atPath: directory.path)
      try files.copyItem(atPath: image.path, toPath: directory.path)
      #expect(files.createFile(atPath: directory.path + "/wiping", contents: nil))
      for name in names.prefix(removed) {
        try files.removeItem(atPath: directory.path + "/" + name)
      }
      let again = try disk.open(directory.path)
      #expect(try again.scan().isEmpty, "\(removed) files were gone")
      #expect(try traces().isEmpty, "\(removed) files were gone")
      try again.put([1], for: [2])
      again.close()
      let later = try disk.open(directory.path)
      #expect(try later.scan().count == 1)
      later.close()
    }
  }

  @Test("a wipe waits for snapshots to end", arguments: Disk.allCases)
  func snapshots(disk: Disk) throws {
    let store = try disk.open(directory.path)
    try fill(store)
    let before = try store.scan().count
    let progress = Progress()
    let (hasBegun, mayEnd, hasEnded) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    Thread.detachNewThread {
      let count = try? store.read { snapshot throws(StorageError) in
        hasBegun.signal()
        mayEnd.wait()
        // The wipe has not taken anything from under this snapshot.
        return try snapshot.scan().count
      }
      progress.count.withLock { $0 = count }
      hasEnded.signal()
    }
    hasBegun.wait()
    Thread.detachNewThread {
      try? store.wipe()
      hasEnded.signal()
    }
    mayEnd.signal()
    hasEnded.wait()
    hasEnded.wait()
    #expect(progress.count.withLock { $0 } == before)
    #expect(try store.scan().isEmpty)
    store.close()
  }

  /// The rows that a reader has met.
  private final class Progress: Sendable {
    let count = Mutex<Int?>(nil)
  }
}
