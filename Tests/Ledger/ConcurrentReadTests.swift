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
    let key = Array("n".utf8)
    let (secondCalls, secondIsDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let firstIsDone = DispatchSemaphore(value: 0)
    let seen = Mutex<(version: Version, value: [UInt8]?)?>(nil)
    /// Stores the version that it makes.
    @Sendable func commit() {
      _ = try? ledger.decide { snapshot throws(StorageError) in
        let put = Mutation.put(key: key, value: [UInt8(snapshot.version + 1)])
        return Decision([Commit(mutations: [put], record: [1])], keeping: ())
      }
    }

    store.tell {
      store.tell {
        // The second commit is in the store, and only the first caller has left the ledger.
        firstIsDone.wait()
        let read = try? ledger.read { snapshot throws(StorageError) in
          (version: snapshot.version, value: try snapshot.get(key))
        }
        seen.withLock { $0 = read }
      }
      DispatchQueue.global().async {
        secondCalls.signal()
        commit()
        secondIsDone.signal()
      }
      secondCalls.wait()
      // The second waits for its turn. Were it late, the test would only see less.
      #expect(secondIsDone.wait(timeout: .now() + .milliseconds(20)) == .timedOut)
    }
    commit()
    firstIsDone.signal()
    secondIsDone.wait()

    let read = try #require(seen.withLock { $0 })
    #expect(read.version == 2)
    #expect(read.value == [2])
  }
}
