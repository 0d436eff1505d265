import Foundation
import Synchronization
import TernAssembly
import TernFirebaseCompat
import TernServerAssembly
import TernStandard

/// A server in this process, and apps that reach it.
final class LocalServer: Sendable {
  let assembler = Assembler(catalog: .standard)
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("tern-compat-\(ProcessInfo.processInfo.globallyUniqueString)")
  private let server: AssembledServer
  private let count = Mutex(0)

  init() async throws {
    server = try await assembler.server(
      from: Configuration(storage: ["kind": "memory"], transport: ["kind": "loopback"]))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Configures an app with a name and a folder of its own.
  ///
  /// - Parameter name: The name of an app before it, to start that one again.
  func app(
    _ name: String? = nil, choose: (FirebaseOptions) -> Void = { _ in }
  ) -> FirebaseApp {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let name = name ?? "\(folder.lastPathComponent)-\(number)"
    let options = FirebaseOptions(googleAppID: "1:1:ios:1", gcmSenderID: "1")
    choose(options)
    let app = FirebaseApp.configure(
      name: name, options: options,
      configuration: Configuration(
        storage: ["kind": "sqlite", "path": .string(folder.path + "/" + name)],
        transport: ["kind": "loopback"]),
      assembler: assembler)
    return app
  }

  /// The documents of a new app, which calls back on a queue of its own.
  func firestore() -> Firestore {
    let firestore = Firestore.firestore(app: app())
    let settings = firestore.settings
    settings.dispatchQueue = DispatchQueue(label: "callbacks")
    firestore.settings = settings
    return firestore
  }

  /// The tree of an app, which calls back on a queue of its own.
  func database(of app: FirebaseApp? = nil, url: String? = nil) -> Database {
    let app = app ?? self.app()
    let database = url.map { Database.database(app: app, url: $0) } ?? Database.database(app: app)
    database.callbackQueue = DispatchQueue(label: "callbacks")
    return database
  }

  func close() async { await server.stop() }
}

/// One answer of a callback, for a test that waits for it.
final class Answer<Value: Sendable>: Sendable {
  private let stream: AsyncStream<Value>
  private let continuation: AsyncStream<Value>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func give(_ value: Value) { continuation.yield(value) }

  /// Waits for the next answer; `nil` after a minute.
  func next() async -> Value? {
    await withTaskGroup(of: Value?.self) { group in
      group.addTask { await self.stream.first { _ in true } }
      group.addTask {
        try? await ContinuousClock().sleep(for: .seconds(60))
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }
}
