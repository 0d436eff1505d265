import Foundation
import TernAssembly
import TernFirebaseCompat
import TernStandard

/// The default app, as a program configures it once, with a server of its own.
///
/// The printed snippets call `Firestore.firestore()`, which is the same for the whole program:
/// tests that do so are one serialized suite, and each ends the database it was given.
enum DefaultApp {
  private static let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("tern-default-app-\(ProcessInfo.processInfo.globallyUniqueString)")

  private static let opened = Task {
    let assembler = Assembler(catalog: .standard)
    let server = try await assembler.server(
      from: Configuration(storage: ["kind": "memory"], transport: ["kind": "loopback"]))
    FirebaseApp.configure(
      configuration: Configuration(
        storage: ["kind": "sqlite", "path": .string(folder.path)],
        transport: ["kind": "loopback"]),
      assembler: assembler)
    return server
  }

  /// Runs a test with a database that nobody has used, and ends it.
  static func use(_ body: () async throws -> Void) async throws {
    _ = try await opened.value
    try await Firestore.firestore().clearPersistence()
    do {
      try await body()
      try await Firestore.firestore().terminate()
    } catch {
      try await Firestore.firestore().terminate()
      throw error
    }
    try? FileManager.default.removeItem(at: folder)
  }
}
