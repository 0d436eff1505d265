import Dispatch
import Synchronization
import TernClient
import TernCore
import TernStorage
import TernSync
import TernTransport

@testable import TernFirebaseCompat

extension House {
  /// A client of documents, with the cable it hangs on.
  struct Desk: Sendable {
    let firestore: Firestore
    let cable: Cable
    let storage: String
    let choose: @Sendable (FirestoreSettings) -> Void
  }

  static let documentDatabase = DocumentDatabase.demo

  /// A client of documents that starts, or starts again, with the stores of its name.
  ///
  /// - Parameter choose: What is chosen before the first operation.
  func firestore(
    _ name: String, online: Bool = true, storage: String? = nil,
    choose: @escaping @Sendable (FirestoreSettings) -> Void = { _ in }
  ) throws -> Firestore {
    try firestore(
      name, cable: Cable(try clientTransport(), isPlugged: online),
      storage: storage ?? setting.storage, choose: choose)
  }

  /// Ends a client of documents as a program ends that is killed, and starts it again on the same
  /// cable: what was not durable is gone.
  func restartFirestore(
    _ name: String, choose: (@Sendable (FirestoreSettings) -> Void)? = nil
  ) async throws -> Firestore {
    let desk = try desk(name)
    try await desk.firestore.terminate()
    return try firestore(
      name, cable: desk.cable, storage: desk.storage, choose: choose ?? desk.choose)
  }

  func desk(_ name: String) throws -> Desk {
    guard let desk = state.withLock({ $0.desks[name] }) else {
      throw DatabaseError.closed("nobody is called \(name)")
    }
    return desk
  }

  private func firestore(
    _ name: String, cable: Cable, storage: String,
    choose: @escaping @Sendable (FirestoreSettings) -> Void
  ) throws -> Firestore {
    let (stores, ambient) = (stores, documentAmbient)
    let firestore = Firestore(database: Self.documentDatabase, ambient: ambient) {
      choices, isOffline in
      let kind = choices.cache.isPersistent ? storage : "forgetful"
      let parts = DocumentParts(
        database: Self.documentDatabase,
        queue: try stores.store(name + "-document-queue", kind: kind),
        cache: try stores.store(name + "-document-cache", kind: kind, relaxed: true))
      let documents = try Documents.open(
        parts, over: cable, options: choices.clientOptions, ambient: ambient, isOffline: isOffline)
      return OpenedDocuments(documents: documents) {
        await documents.terminate()
        guard kind != "memory" else { return }
        parts.queue.close()
        parts.cache?.close()
      }
    }
    let settings = firestore.settings
    choose(settings)
    settings.dispatchQueue = DispatchQueue(label: "callbacks of \(name)")
    firestore.settings = settings
    state.withLock {
      $0.desks[name] = Desk(firestore: firestore, cable: cable, storage: storage, choose: choose)
    }
    return firestore
  }
}

extension DocumentDatabase {
  fileprivate static let demo = demoDatabase()

  private static func demoDatabase() -> DocumentDatabase {
    guard let database = try? DocumentDatabase(projectID: "demo") else {
      preconditionFailure("demo is the name of a project")
    }
    return database
  }
}
