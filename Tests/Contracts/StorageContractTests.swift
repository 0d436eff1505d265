import Foundation
import TernStorage
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite
import TernTestKit
import Testing

private let backends = [
  StoreFixture("memory") { MemoryStore() },
  StoreFixture("sqlite") { try SQLiteStore(path: temporaryPath()) },
  StoreFixture("lmdb") { try LMDBStore(path: temporaryPath()) },
  StoreFixture("lmdb, a map that has to grow") {
    try LMDBStore(path: temporaryPath(), durability: .durable, limitBytes: nil, mapBytes: 1 << 16)
  },
  StoreFixture("sqlite and lmdb, mirrored") {
    MirrorStore(
      try SQLiteStore(path: temporaryPath(), durability: .relaxed),
      try LMDBStore(path: temporaryPath(), durability: .relaxed)
    ) { Issue.record("\($0)") }
  },
  StoreFixture("faulty, without faults") { FaultyDisk().open() },
]

@Test("storage contract", arguments: backends, StorageContract.checks)
func holds(backend: StoreFixture, check: StoreCheck) throws {
  try check.run(on: backend.open())
}

/// A path for a new store in a directory that goes when the tests end.
@Sendable func temporaryPath() -> String {
  temporaryDirectory.appending(path: UUID().uuidString).path
}

private let temporaryDirectory: URL = {
  atexit { try? FileManager.default.removeItem(at: temporaryDirectory) }
  let name = "tern-contract-\(ProcessInfo.processInfo.processIdentifier)"
  return FileManager.default.temporaryDirectory.appending(path: name)
}()
