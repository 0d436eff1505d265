import Foundation
import TernAssembly
import TernClient
import TernServerAssembly
import TernStandard
import Testing

@testable import TernFirebaseCompat

@Suite struct PersistenceTests {
  /// An app that keeps its data in a folder, and reaches no server.
  private func app(_ kind: String, in folder: URL) -> FirebaseApp {
    FirebaseApp.configure(
      name: "tern-app-\(ProcessInfo.processInfo.globallyUniqueString)",
      configuration: Configuration(
        storage: ["kind": .string(kind), "path": .string(folder.path)],
        transport: ["kind": "loopback"]),
      assembler: Assembler(catalog: .standard))
  }

  private func newFolder() -> URL {
    FileManager.default.temporaryDirectory
      .appendingPathComponent("tern-data-\(ProcessInfo.processInfo.globallyUniqueString)")
  }

  /// The files in a folder that hold data of a database.
  private func files(in folder: URL) -> [String] {
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (all?.allObjects ?? []).compactMap { $0 as? URL }
      .filter { !$0.pathComponents.contains("auth") && !$0.hasDirectoryPath }
      .map(\.lastPathComponent)
  }

  @Test(
    "R03 without the flag nothing is kept; with it a write survives a restart",
    arguments: ["sqlite", "lmdb"])
  func restart(kind: String) async throws {
    for isPersistent in [nil, false, true] as [Bool?] {
      let folder = newFolder()
      defer { try? FileManager.default.removeItem(at: folder) }
      let db = Database.database(app: app(kind, in: folder))
      #expect(db.isPersistenceEnabled == false)
      if let isPersistent { db.isPersistenceEnabled = isPersistent }
      let heard = Trace()
      heard.observe(.value, of: db.reference(withPath: "x"))
      now { db.reference(withPath: "x").setValue("mine") }
      try await heard.wait(for: "value mine")
      if isPersistent == true { try await db.waitUntilDurable() }
      await db.close()
      #expect(files(in: folder).isEmpty == (isPersistent != true), "\(files(in: folder))")

      let again = Database.database(app: app(kind, in: folder))
      again.isPersistenceEnabled = true
      let pending = try await again.native().tree.pendingWrites.count
      #expect(pending == (isPersistent == true ? 1 : 0))
      if isPersistent == true {
        let found = Trace()
        found.observe(.value, of: again.reference(withPath: "x"))
        #expect(try await found.wait(for: 1) == ["value mine"])
      }
      await again.close()
    }
  }

  @Test("D05 the size that is configured bounds the tree's cache; an unlimited one keeps all")
  func sizes() async throws {
    let assembler = Assembler(catalog: .standard)
    let server = try await assembler.server(
      from: Configuration(storage: ["kind": "memory"], transport: ["kind": "loopback"]))
    func database(_ choose: (inout DatabaseSettings) -> Void) throws -> (Database, URL) {
      let folder = newFolder()
      let app = FirebaseApp.configure(
        name: folder.lastPathComponent,
        configuration: Configuration(
          storage: ["kind": "sqlite", "path": .string(folder.path)],
          transport: ["kind": "loopback"]),
        assembler: assembler)
      let database = Database.database(app: app)
      try database.configure {
        $0.isPersistenceEnabled = true
        choose(&$0)
      }
      return (database, folder)
    }
    // Twice the default of 10 MiB.
    let (writer, written) = try database { _ in }
    let text = String(repeating: "x", count: 1_048_576)
    for number in 0..<20 {
      try await writer.reference(withPath: "big/\(number)").setValue(text)
    }
    await writer.close()
    try? FileManager.default.removeItem(at: written)
    var kept: [String: Int] = [:]
    for (name, size) in [
      ("1 MiB", 1_048_576), ("default", nil), ("unlimited", Database.cacheSizeUnlimited),
    ] as [(String, UInt?)] {
      let (db, folder) = try database { if let size { $0.persistenceCacheSizeBytes = size } }
      for number in 0..<20 {
        let ref = db.reference(withPath: "big/\(number)")
        let heard = Trace()
        let handle = heard.observe(.value, of: ref)
        try await heard.wait { $0.last?.hasPrefix("value x") ?? false }
        try await db.waitUntilSynced("big/\(number)")
        ref.removeObserver(withHandle: handle)
        try await db.waitUntilSynced("big/\(number)")
      }
      db.goOffline()
      for number in 0..<20 where try await db.isCached("big/\(number)") {
        kept[name, default: 0] += 1
      }
      await db.close()
      try? FileManager.default.removeItem(at: folder)
    }
    #expect(kept["unlimited"] == 20)
    #expect((5..<11).contains(kept["default"] ?? 0), "\(kept)")
    #expect((kept["1 MiB"] ?? 0) <= 1, "\(kept)")
    await server.stop()
  }
}
