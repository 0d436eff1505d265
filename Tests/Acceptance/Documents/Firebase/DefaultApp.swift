import Foundation
import TernAssembly
import TernFirebaseCompat
import TernServerAssembly
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
    let shop = try await TokenShop()
    let server = try await assembler.server(
      from: Configuration(storage: ["kind": "memory"], transport: ["kind": "loopback"]),
      authenticator: shop.authenticator)
    FirebaseApp.configure(
      configuration: Configuration(
        storage: ["kind": "sqlite", "path": .string(folder.path)],
        transport: ["kind": "loopback"]),
      assembler: assembler)
    return (server, shop)
  }

  /// A token of a user, which the server of the app takes for an hour.
  static func token(_ user: String) async throws -> String {
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    return try await opened.value.1.token(user, now: now)
  }

  /// Runs a test with an unused database, and ends it.
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
