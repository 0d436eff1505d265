import Foundation
import TernKit
import TernLedger
import TernSecurity
import TernServer
import TernStorageMemory
import TernTransportLoopback

/// A server in memory, and databases opened as applications open theirs.
struct Home {
  let transport = LoopbackTransport()
  let server: TernServer

  init() async throws {
    let ledger = try EmbeddedLedger(
      store: MemoryStore(), uptime: RuntimeEnvironment.system.stopwatch())
    server = try await TernServer(ledger: ledger, on: transport, authorizer: AllowLocal())
    try await server.listen(on: transport)
  }

  func open(
    _ folder: String = "", _ change: (inout TernOptions) -> Void = { _ in }
  ) async throws -> TernDatabase {
    var options = TernOptions()
    if folder.isEmpty { options.storage = .memory }
    options.transport = transport
    options.report = { _ in }
    change(&options)
    return try await TernDatabase.open(folder, server: nil, options)
  }
}

/// Lends a folder that is gone afterwards.
func withFolder<R>(_ body: (String) async throws -> R) async throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "tern-" + UUID().uuidString)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder.path)
}
