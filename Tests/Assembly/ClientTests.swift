import TernAssembly
import TernClient
import TernCore
import TernStorage
import TernStorageLMDB
import TernStorageSQLite
import Testing

@Suite("a client from a configuration") struct ClientTests {
  private func assembler() -> Assembler {
    var catalog = testCatalog()
    catalog.register(SQLitePlugin.self)
    catalog.register(LMDBPlugin.self)
    return Assembler(catalog: catalog)
  }

  @Test("writes made without a server are there again", arguments: ["sqlite", "lmdb"])
  func reopen(kind: String) async throws {
    try await withTemporaryFolder { folder in
      let assembler = assembler()
      let configuration = Configuration(
        storage: .object(["kind": .string(kind), "path": .string(folder)]),
        transport: ["kind": "loopback"])
      let first = try await assembler.client(from: configuration)
      try await first.tree["rooms/1"].set("Hi")
      await first.close()

      let second = try await assembler.client(from: configuration)
      #expect(await second.tree.pendingWrites.count == 1)
      await second.close()
    }
  }

  @Test("a second client in the same folder is refused, and leaves nothing open")
  func inUse() async throws {
    try await withTemporaryFolder { folder in
      let configuration = Configuration(
        storage: .object(["kind": "sqlite", "path": .string(folder)]),
        transport: ["kind": "loopback"])
      let first = try await assembler().client(from: configuration)
      let error = await #expect(throws: AssemblyError.self) {
        _ = try await assembler().client(from: configuration)
      }
      guard case .storage(.inUse, "sqlite", _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      await first.close()
      try await assembler().client(from: configuration).close()
    }
  }
}
