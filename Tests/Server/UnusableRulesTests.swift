import Synchronization
import TernLedger
import TernStorage
import TernStorageMemory
import TernSync
import TernTransportLoopback
import Testing

@testable import TernServer

/// Rules that an earlier version has stored, and that this one does not compile.
@Suite("Stored rules that are invalid now") final class UnusableRulesTests: Sendable {
  private let events = Mutex<[ServerEvent]>([])

  private func unusable(_ rows: [(key: [UInt8], text: String)]) async throws -> [ServerEvent] {
    let ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
    let mutations = rows.map { Mutation.put(key: $0.key, value: Array($0.text.utf8)) }
    _ = try ledger.commit([Commit(mutations: mutations, record: [1])])
    let server = try await TernServer(
      ledger: ledger, on: LoopbackTransport(), ambient: .system
    ) { [self] event in
      if case .unusableRules = event { events.withLock { $0.append(event) } }
    }
    await server.stop()
    return events.withLock { $0 }
  }

  @Test("the operator is told of each database whose rules deny everything now")
  func told() async throws {
    let documents = "projects/p/databases/(default)"
    let told = try await unusable([
      (StoreLayout.rules + Array("first".utf8), #"{"rules": {".read": true}}"#),
      (StoreLayout.rules + Array("second".utf8), #"{"rules": {".read": "1 +"}}"#),
      (StoreLayout.documentRules + Array(documents.utf8), "service cloud.firestore { match }"),
    ])
    let databases = told.map { event -> String? in
      guard case .unusableRules(let database, let problem) = event else { return nil }
      #expect(!problem.isEmpty)
      return database
    }
    #expect(databases == ["second", documents])
  }

  @Test("rules that compile are no news")
  func silent() async throws {
    let rows = [(StoreLayout.rules + Array("first".utf8), #"{"rules": {".read": true}}"#)]
    #expect(try await unusable(rows).isEmpty)
  }
}
