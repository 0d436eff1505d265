import Foundation
import TernStorage
import TernStorageLMDB
import Testing

/// The rest of a cut file may be any part of it: the system stops a process that touches a mapped
/// page behind its end, so all of this is about not touching it.
@Suite("a file that was cut off")
struct ShortFileTests {
  private static let pageBytes = 4_096
  let directory = TemporaryDirectory()

  private var file: URL { URL(filePath: directory.path + "/rows.mdb") }

  /// Rows on many pages, large ones among them, and pages that were given back.
  private func fill() throws -> [Row] {
    let store = try LMDBStore(path: directory.path)
    for number in UInt8(0)..<60 {
      let length = number % 10 == 0 ? 9_000 : 300
      try store.put([UInt8](repeating: number, count: length), for: [number])
    }
    try store.write { transaction throws(StorageError) in
      try transaction.remove(in: KeyRange(from: [40], to: [60]))
    }
    try store.put([1], for: [200])
    defer { store.close() }
    return try store.scan()
  }

  @Test("it is refused, or all of its rows are there, wherever it ends")
  func everyLength() throws {
    let rows = try fill()
    let whole = try Data(contentsOf: file)
    var (refused, opened) = (0, 0)
    for end in stride(from: 0, through: whole.count, by: Self.pageBytes / 2) {
      try whole.prefix(end).write(to: file)
      do throws(StorageError) {
        let store = try LMDBStore(path: directory.path)
        defer { store.close() }
        #expect(try store.scan() == rows, "\(end) bytes of \(whole.count)")
        opened += 1
      } catch {
        guard case .corruptStore = error else {
          Issue.record("\(end) bytes of \(whole.count): \(error)")
          continue
        }
        refused += 1
      }
    }
    #expect(opened > 0)
    #expect(refused > 20)
  }

  @Test("the message says what is wrong and what to do")
  func message() throws {
    _ = try fill()
    let whole = try Data(contentsOf: file)
    try whole.prefix(whole.count / 2).write(to: file)
    let error = #expect(throws: StorageError.self) { try LMDBStore(path: directory.path) }
    let text = error?.description ?? ""
    #expect(text.contains("behind its end"))
    #expect(text.hasSuffix("restore the folder"))
  }
}
