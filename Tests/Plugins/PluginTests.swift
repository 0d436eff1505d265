import Foundation
import Synchronization
import TernAssembly
import TernClient
import TernCore
import TernSecurity
import TernServer
import TernServerAssembly
import TernStorage
import TernTestKit
import TernTransport
import Testing

private let file = PersistenceFixture(
  FilePlugin.self, FilePlugin.Options(), small: FilePlugin.Options(limitBytes: 1 << 20),
  folder: temporaryPath)

private let pipe = TransportFixture("pipe") { limit throws(TransportError) in
  PipeTransport(limit: limit)
} client: { server, _, _ throws(TransportError) in
  server
}

@Test(
  "the storage contract holds for a store outside of the package", arguments: StorageContract.checks
)
func storageHolds(check: StoreCheck) throws {
  try check.run(
    on: try FileStore(at: StorageLocation(in: temporaryPath()), limitBytes: nil))
}

@Test(
  "the persistence contract holds for a plugin outside of the package",
  arguments: PersistenceContract.checks(of: file))
func persistenceHolds(check: PersistenceCheck) async throws { try await check.run() }

@Test(
  "the transport contract holds for a transport outside of the package",
  arguments: TransportContract.checks)
func transportHolds(check: TransportCheck) async throws { try await check.run(on: pipe) }

@Suite("plugins in an assembler", .serialized)
struct AssembledPluginTests {
  private let assembler: Assembler = {
    var catalog = PluginCatalog()
    catalog.register(FilePlugin.self)
    catalog.register(PipePlugin.self)
    catalog.register(CountedPlugin.self)
    catalog.register(NamesPlugin.self)
    catalog.register(CounterPlugin.self)
    return Assembler(catalog: catalog)
  }()

  private func configuration(_ path: String) -> Configuration {
    Configuration(
      storage: .object(["kind": "file", "path": .string(path)]), transport: ["kind": "pipe"],
      auth: ["kind": "names", "names": ["ann"]], ledger: ["kind": "counted"])
  }

  @Test(
    "a client and a server run on plugins alone, and find their rows again",
    .timeLimit(.minutes(10)))
  func journey() async throws {
    let configuration = configuration(temporaryPath())
    let rules = try TreeRules(
      #"""
      {"rules": {".read": "auth.uid === 'ann'", ".write": "auth.uid === 'ann'"}}
      """#)
    func serve() async throws -> AssembledServer {
      try await assembler.server(from: configuration, authorizer: RulesAuthorizer(rules))
    }
    var server = try await serve()
    #expect(CounterPlugin.count.withLock { $0 } == 1)
    let client = try await assembler.client(from: configuration)
    await client.tree.setCredential("ann")
    try await client.tree["rooms/1/title"].set("Hi").acknowledged()
    let store = try #require(CountedPlugin.stores.withLock { $0.first })
    #expect(store.events.contains(.committed))
    await server.stop()
    #expect(CounterPlugin.count.withLock { $0 } == 0)
    #expect(CountedPlugin.stores.withLock { $0.isEmpty })

    try await client.tree["rooms/1/text"].set("kept on this device")
    await client.close()
    server = try await serve()
    let again = try await assembler.client(from: configuration)
    await again.tree.setCredential("ann")
    try await again.tree.waitForPendingWrites()
    #expect(try await again.tree["rooms/1/title"].get().string == "Hi")
    #expect(try await again.tree["rooms/1/text"].get().string == "kept on this device")
    await again.close()
    await server.stop()
  }

  @Test(
    "an unknown kind names the kinds of the program",
    arguments: [
      ("ledger", ["embedded", "counted"]), ("auth", ["none", "names"]),
      ("storage", ["file"]), ("transport", ["pipe"]),
    ] as [(String, [String])])
  func unknownKind(section: String, known: [String]) throws {
    var configuration = configuration(temporaryPath())
    try configuration.set("nonsuch", for: "kind", in: section, origin: "test")
    #expect(throws: ConfigurationError.unknownKind("nonsuch", section: section, known: known)) {
      try assembler.checkServer(configuration)
    }
  }

  @Test("an endpoint is turned off, set up, and known by its kind")
  func endpoints() async throws {
    var configuration = configuration(temporaryPath())
    configuration.endpoints = ["counter": false]
    var server = try await assembler.server(from: configuration)
    #expect(CounterPlugin.count.withLock { $0 } == 0)
    await server.stop()

    configuration.endpoints = ["counter": ["step": 5]]
    server = try await assembler.server(from: configuration)
    #expect(CounterPlugin.count.withLock { $0 } == 5)
    await server.stop()

    configuration.endpoints = ["counter": ["stride": 5]]
    #expect(throws: ConfigurationError.self) { try assembler.checkServer(configuration) }
    configuration.endpoints = ["console": true]
    #expect(
      throws: ConfigurationError.unknownKind("console", section: "endpoints", known: ["counter"])
    ) { try assembler.checkServer(configuration) }
  }

  @Test("a plugin that does not open leaves nothing open")
  func failingPlugins() async throws {
    let path = temporaryPath()
    var endpoint = configuration(path)
    endpoint.endpoints = ["counter": ["step": 0]]
    var authenticator = configuration(path)
    authenticator.auth = ["kind": "names", "names": []]
    for (failing, reason) in [(endpoint, "a step is not 0"), (authenticator, "there are no names")]
    {
      let error = await #expect(throws: ServerAssemblyError.self) {
        try await assembler.server(from: failing)
      }
      guard case .plugin(_, _, reason) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(CountedPlugin.stores.withLock { $0.isEmpty })
      await (try assembler.server(from: configuration(path))).stop()
    }
  }
}

/// A path for a new store in a directory that goes when the tests end.
@Sendable private func temporaryPath() -> String {
  temporaryDirectory.appending(path: UUID().uuidString).path
}

private let temporaryDirectory: URL = {
  atexit { try? FileManager.default.removeItem(at: temporaryDirectory) }
  let name = "tern-plugins-\(ProcessInfo.processInfo.processIdentifier)"
  return FileManager.default.temporaryDirectory.appending(path: name)
}()
