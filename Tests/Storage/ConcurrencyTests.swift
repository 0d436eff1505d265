import Dispatch
import TernStorage
import TernStorageMemory
import Testing

@Suite("many threads")
struct ConcurrencyTests {
  let directories = [TemporaryDirectory(), TemporaryDirectory()]

  /// Every transaction writes one number under ten keys; a snapshot must find the same under all.
  @Test("snapshots are whole while a writer writes")
  func wholeSnapshots() throws {
    let stores: [any OrderedStore] = [
      MemoryStore(), try Disk.sqlite.open(directories[0].path, .relaxed),
      try Disk.lmdb.open(directories[1].path, .relaxed),
    ]
    for store in stores {
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for number in 0..<50 {
          do throws(StorageError) {
            if thread < 2 {
              try write(UInt8(thread * 100 + number), to: store)
            } else {
              let values = Set(try store.scan().map(\.value))
              #expect(values.count <= 1)
            }
          } catch { Issue.record("\(error)") }
        }
      }
    }
  }

  private func write(_ number: UInt8, to store: any OrderedStore) throws(StorageError) {
    try store.write { transaction throws(StorageError) in
      for key in UInt8(0)..<10 { try transaction.put([number], for: [key]) }
    }
  }
}
