import Dispatch
import Synchronization
import TernStorage
import TernStorageMemory
import Testing

@testable import TernLedger

/// A store that tells when a write is in it, before its writer hears of it.
private final class TellingStore: OrderedStore {
  private let base = MemoryStore()
  private let hearer = Mutex<(@Sendable () -> Void)?>(nil)

  func tell(_ hear: @escaping @Sendable () -> Void) { hearer.withLock { $0 = hear } }

  func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R { try base.read(body) }

  func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let result = try base.write(body)
    hearer.withLock { $0 }?()
    return result
  }

  func wipe() throws(StorageError) { try base.wipe() }

  func close() { base.close() }
}

@Suite("Reading while others commit")
struct ConcurrentReadTests {
  @Test("what is read is of the version that it says, also when another caller has just committed")
  func versionOfReads() throws {
    let store = TellingStore()
    let ledger = try EmbeddedLedger(store: store) { 0 }
    let wrong = Mutex<[String]>([])
    let key = Array("n".utf8)
    store.tell {
      let read = try? ledger.read { snapshot throws(StorageError) in
        (snapshot.version, try snapshot.get(key))
      }
      guard let read, read.1 == [UInt8(read.0)] else {
        return wrong.withLock { $0.append("\(String(describing: read))") }
      }
    }
    // Every commit stores its own version.
    DispatchQueue.concurrentPerform(iterations: 2) { _ in
      for _ in 0..<100 {
        _ = try? ledger.decide { snapshot throws(StorageError) in
          let put = Mutation.put(key: key, value: [UInt8(snapshot.version + 1)])
          return Decision([Commit(mutations: [put], record: [1])], keeping: ())
        }
      }
    }
    #expect(wrong.withLock { $0 }.isEmpty)
    #expect(try ledger.read { snapshot throws(StorageError) in snapshot.version } == 200)
  }
}
