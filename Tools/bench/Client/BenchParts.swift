import TernClient
import TernLedger
import TernServer
import TernStorage
import TernStorageMemory
import TernStorageSQLite
import TernSync
import TernTransportLoopback

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The stores of one measured client, and a network for it.
final class BenchParts {
  private let kind: String
  let folder: String
  private var queue: any OrderedStore
  private var cache: any OrderedStore
  private let transport = LoopbackTransport()

  /// - Parameter folder: Where a run before this one has left its stores.
  init(_ kind: String, in folder: String? = nil) throws {
    self.kind = kind
    self.folder = folder ?? "/tmp/tern-bench-client-\(UInt64.random(in: 0...UInt64.max))"
    (queue, cache) = try Self.stores(kind, self.folder)
  }

  /// Lets go of the stores and opens them again, as a new process would.
  func reopen() throws {
    guard kind == "sqlite" else { return }
    close()
    (queue, cache) = try Self.stores(kind, folder)
  }

  func open() throws -> TernDatabase {
    var options = ClientOptions()
    options.syncsInBackground = kind != "memory"
    return try TernDatabase.open(
      ClientParts(queue: queue, cache: cache, transport: transport), options: options)
  }

  func serve() async throws -> TernServer {
    let store: any OrderedStore =
      kind == "sqlite" ? try SQLiteStore(path: folder + "/server") : MemoryStore()
    let ledger = try EmbeddedLedger(
      store: store, uptime: RuntimeEnvironment.system.stopwatch())
    let server = try await TernServer(ledger: ledger, on: transport)
    try await server.listen(on: transport)
    return server
  }

  /// Lets go of the stores, which stay on the disk.
  func close() {
    queue.close()
    cache.close()
  }

  /// The size of the cache on the disk, once it was closed.
  var cacheBytes: Int {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder + "/cache")
    return (files ?? []).reduce(0) { sum, file in
      let path = "\(folder)/cache/\(file)"
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return sum + ((attributes?[.size] as? Int) ?? 0)
    }
  }

  func remove() {
    close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  private static func stores(
    _ kind: String, _ folder: String
  ) throws -> (any OrderedStore, any OrderedStore) {
    guard kind == "sqlite" else { return (MemoryStore(), MemoryStore()) }
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    return (
      try SQLiteStore(path: folder + "/queue"),
      try SQLiteStore(path: folder + "/cache", durability: .relaxed)
    )
  }
}
