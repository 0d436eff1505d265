import Foundation
import Synchronization
import TernAssembly
import TernClient
import TernCore
import TernStorage
import TernStorageLMDB
import TernStorageSQLite
import TernSync
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

  /// Ways in which a folder of a store becomes useless.
  enum Damage: String, CaseIterable {
    case garbage, unreachable, misplaced

    func inflict(on folder: String, _ kind: String) throws {
      let files = FileManager.default
      let file = folder + (kind == "sqlite" ? "/rows.sqlite" : "/rows.mdb")
      switch self {
      case .garbage:
        for name in try files.contentsOfDirectory(atPath: folder) where name.hasPrefix("rows.") {
          try files.removeItem(atPath: folder + "/" + name)
        }
        try Data(repeating: 0x5A, count: 20_000).write(to: URL(fileURLWithPath: file))
      case .unreachable:
        try files.removeItem(atPath: folder)
        try Data().write(to: URL(fileURLWithPath: folder))
      case .misplaced:
        // A directory in the place of the file can be neither read nor replaced.
        try files.removeItem(atPath: folder)
        try files.createDirectory(atPath: file, withIntermediateDirectories: true)
      }
    }
  }

  @Test(
    "a cache that does not open is done without, and reported; a queue never is",
    .timeLimit(.minutes(10)), arguments: ["sqlite", "lmdb"], Damage.allCases)
  func damagedCaches(kind: String, damage: Damage) async throws {
    try await withTemporaryFolder { folder in
      let assembler = assembler()
      let configuration = Configuration(
        storage: .object(["kind": .string(kind), "path": .string(folder)]),
        transport: ["kind": "loopback"])
      let notices = Mutex<[ClientNotice]>([])
      var options = ClientOptions()
      options.report = { notice in
        // There is no server; whether that is noticed in time says nothing about caches.
        if case .notConnected = notice { return }
        notices.withLock { $0.append(notice) }
      }
      func open() async throws -> TernDatabase {
        let tern = try await assembler.client(from: configuration, options: options)
        await tern.documents.goOffline()
        return tern
      }
      var tern = try await open()
      try await tern.documents.document("a/1").set(["n": 1])
      await tern.close()
      #expect(notices.withLock { $0.isEmpty })
      for cache in ["/cache", "/documents/cache"] {
        try damage.inflict(on: folder + cache, kind)
      }
      for start in 1...2 {
        tern = try await open()
        let told = notices.withLock { notices in
          defer { notices = [] }
          return notices
        }
        #expect(told.count == 2)
        #expect(await tern.documents.cacheFailure != nil)
        #expect(await tern.tree.cacheFailure != nil)
        // What waits is there, and what is written now is kept.
        #expect(try await tern.documents.collection("a").get().count == start)
        try await tern.documents.document("a/\(start + 1)").set(["n": 2])
        await tern.close()
      }
      for queue in ["/documents/queue", "/queue"] {
        try damage.inflict(on: folder + queue, kind)
        await #expect(throws: AssemblyError.self) { try await open() }
      }
    }
  }
}
