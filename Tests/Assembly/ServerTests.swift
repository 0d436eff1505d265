import TernAssembly
import TernClient
import TernCore
import TernServer
import TernServerAssembly
import TernStorageLMDB
import TernStorageSQLite
import TernTransport
import Testing

@Suite("both ends from one configuration") struct ServerTests {
  private func assembler() -> Assembler {
    var catalog = testCatalog()
    catalog.register(SQLitePlugin.self)
    catalog.register(LMDBPlugin.self)
    return Assembler(catalog: catalog)
  }

  @Test(
    "a client and a server meet over loopback, on any storage",
    arguments: ["memory", "sqlite", "lmdb"], ["memory", "sqlite", "lmdb"])
  func meet(serverKind: String, clientKind: String) async throws {
    try await withTemporaryFolder { folder in
      let assembler = assembler()
      let server = try await assembler.server(from: configuration(serverKind, folder))
      let one = try await assembler.client(from: configuration(clientKind, folder))
      try await one.tree["rooms/1/title"].set("Hi").acknowledged()
      #expect(try await one.tree["rooms"].get().node == TreeNode(json: #"{"1":{"title":"Hi"}}"#))
      await one.close()
      await server.stop()

      let again = try await assembler.server(from: configuration(serverKind, folder))
      let other = try await assembler.client(from: configuration("memory", folder))
      let found = try await other.tree["rooms/1/title"].get()
      #expect(found.string == (serverKind == "memory" ? nil : "Hi"))
      await other.close()
      await again.stop()
    }
  }

  @Test("a second server at the same address is refused, and leaves nothing open")
  func addressInUse() async throws {
    let assembler = assembler()
    let first = try await assembler.server(from: .inProcess)
    let error = await #expect(throws: ServerAssemblyError.self) {
      _ = try await assembler.server(from: .inProcess)
    }
    guard case .parts(.transport(.addressInUse)) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    await first.stop()
    try await assembler.server(from: .inProcess).stop()
  }

  private func configuration(_ kind: String, _ folder: String) -> Configuration {
    Configuration(
      storage: .object(["kind": .string(kind), "path": .string(folder)]),
      transport: ["kind": "loopback"])
  }
}
