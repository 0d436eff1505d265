import Synchronization
import TernAssembly
import TernServerAssembly
import TernSharedLedger
import TernStorage
import TernStorageMemory
import TernTransportLoopback
import Testing

/// A store in memory that notes how durable it was to be.
private enum NotedPlugin: StoragePlugin {
  struct Options: Decodable, Sendable {}

  static let noted = Mutex<[Durability]>([])
  static var kind: String { "noted" }

  static func open(
    _ options: Options, at location: StorageLocation
  ) async throws(StorageError) -> any OrderedStore {
    noted.withLock { $0.append(location.durability) }
    return MemoryStore()
  }
}

@Suite("the durability of a server's store", .serialized, .timeLimit(.minutes(1)))
struct StoreDurabilityTests {
  private func durability(
    _ ledger: ConfigurationValue, _ storage: ConfigurationValue
  ) async throws -> Durability? {
    var catalog = PluginCatalog()
    catalog.register(NotedPlugin.self)
    catalog.register(LoopbackPlugin.self)
    catalog.register(SharedLedgerPlugin<MemoryLogPlugin>.self)
    NotedPlugin.noted.withLock { $0 = [] }
    let server = try await Assembler(catalog: catalog).server(
      from: Configuration(storage: storage, transport: ["kind": "loopback"], ledger: ledger))
    await server.stop()
    return NotedPlugin.noted.withLock { $0.first }
  }

  @Test("a copy of a shared log is relaxed unless the configuration says, other stores are durable")
  func standard() async throws {
    let place = SharedPlace()
    let shared: ConfigurationValue = [
      "kind": "shared", "log": .string("\(place.address)/first"),
    ]
    let plain: ConfigurationValue = ["kind": "noted"]
    #expect(try await durability(["kind": "embedded"], plain) == .durable)
    #expect(try await durability(shared, plain) == .relaxed)
    #expect(try await durability(shared, ["kind": "noted", "durability": "durable"]) == .durable)
  }
}
