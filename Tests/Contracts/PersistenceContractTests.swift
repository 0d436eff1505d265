import Foundation
import TernStorage
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite
import TernTestKit
import Testing

private let smallBytes = 2 << 20

private let backends = [
  PersistenceFixture(
    MemoryPlugin.self, MemoryPlugin.Options(), lifetime: .store, folder: temporaryPath),
  PersistenceFixture(
    SQLitePlugin.self, SQLitePlugin.Options(),
    small: SQLitePlugin.Options(limitBytes: smallBytes), folder: temporaryPath),
  PersistenceFixture(
    LMDBPlugin.self, LMDBPlugin.Options(), small: LMDBPlugin.Options(limitBytes: smallBytes),
    folder: temporaryPath),
]

@Test("persistence contract", arguments: backends.flatMap(PersistenceContract.checks))
func persists(check: PersistenceCheck) async throws { try await check.run() }
