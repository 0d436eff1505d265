import Synchronization
import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernSync
import TernTestKit

/// A house whose clients have documents, by the native API.
final class DocumentHouse: Sendable {
  private struct Room: Sendable {
    let tern: TernDatabase
    let cable: Cable
    let options: ClientOptions
    let clock: ManualClock?
  }

  let house: House
  private let rooms = Mutex<[String: Room]>([:])

  init(_ setting: Setting) async throws { house = try await House(setting) }

  func close() async throws {
    for room in rooms.withLock({ $0.values }) { await room.tern.close() }
    try await house.close()
  }

  /// A client that starts, or starts again, with the stores of its name.
  @discardableResult
  func open(
    _ name: String, online: Bool = true, clock: ManualClock? = nil,
    _ change: (inout ClientOptions) -> Void = { _ in },
    tapped tap: (@Sendable (Cable.Event) -> Void)? = nil
  ) async throws -> Documents {
    var options = ClientOptions()
    change(&options)
    let cable = Cable(try house.clientTransport(), isPlugged: online, tapped: tap)
    return try open(name, cable, options, clock)
  }

  /// Ends a client without a word to the server, and starts it again on the same cable.
  func restart(_ name: String) async throws -> Documents {
    let room = try room(name)
    room.cable.flap()
    await room.tern.close()
    return try open(name, room.cable, room.options, room.clock)
  }

  private func open(
    _ name: String, _ cable: Cable, _ options: ClientOptions, _ clock: ManualClock?
  ) throws -> Documents {
    let kind = house.setting.storage
    var parts = ClientParts(
      queue: try house.stores.store(name + "-queue", kind: kind),
      cache: try house.stores.store(name + "-cache", kind: kind, relaxed: true),
      transport: cable)
    parts.documents = DocumentParts(
      database: try DocumentDatabase(projectID: "demo"),
      queue: try house.stores.store(name + "-documents-queue", kind: kind),
      cache: try house.stores.store(name + "-documents-cache", kind: kind, relaxed: true))
    let ambient = house.ambient(at: nil, clock: clock ?? ScaledClock())
    let tern = try TernDatabase.open(parts, options: options, ambient: ambient)
    rooms.withLock {
      $0[name] = Room(tern: tern, cable: cable, options: options, clock: clock)
    }
    return tern.documents
  }

  private func room(_ name: String) throws -> Room {
    guard let room = rooms.withLock({ $0[name] }) else { throw NobodyThere(name: name) }
    return room
  }

  private struct NobodyThere: Error {
    let name: String
  }
}

// MARK: - Acting

extension DocumentHouse {
  /// Lets connections through again, and tries at once.
  func plug(_ name: String) async throws {
    let room = try room(name)
    room.cable.plug()
    await room.tern.documents.goOffline()
    await room.tern.documents.goOnline()
  }

  /// Lets connections through again; the client finds out by itself.
  func mend(_ name: String) throws { try room(name).cable.plug() }

  func unplug(_ name: String) throws { try room(name).cable.unplug() }
  func flap(_ name: String) throws { try room(name).cable.flap() }
  func tern(_ name: String) throws -> TernDatabase { try room(name).tern }
  func cable(_ name: String) throws -> Cable { try room(name).cable }

  /// A client that looks at what the server has.
  func inspector() async throws -> Documents {
    if let room = try? room("inspector") { return room.tern.documents }
    return try await open("inspector")
  }

  /// Returns the server's documents in a collection: `id {fields}`, by id.
  func serverRows(_ collection: String) async throws -> [String] {
    let result = try await inspector().collection(collection).get(from: .server)
    return result.documents.map(\.row)
  }

  /// Puts documents on the server, each with a number.
  func seed(_ collection: String, _ documents: [String: Int64]) async throws {
    let server = try await inspector()
    var batch = server.batch()
    for (id, number) in documents.sorted(by: { $0.key < $1.key }) {
      batch.set(
        server.collection(collection).document(id), to: ["n": .value(.integer(number))])
    }
    try await batch.commit().acknowledged()
  }
}

// MARK: - Words for what is seen

extension SingleDocumentSnapshot {
  /// `id {fields}`, or `id missing`.
  var row: String {
    guard let fields = data(.none) else { return "\(id) missing" }
    let words = fields.entries.map { "\($0.name):\($0.value.word)" }
    return "\(id) {\(words.joined(separator: ","))}"
  }
}

extension DocumentValue {
  fileprivate var word: String {
    switch self {
    case .integer(let number): "\(number)"
    case .string(let text): text
    case .boolean(let flag): "\(flag)"
    default: "\(self)"
    }
  }
}

extension DocumentSnapshotMetadata {
  /// The metadata of a snapshot, for readers of the trace.
  var words: String {
    (isFromCache ? " from cache" : "") + (hasPendingWrites ? " pending" : "")
  }
}

extension DocumentQuerySnapshot {
  var rows: [String] { documents.map(\.row) }

  /// All rows, and where they come from.
  var words: String { "[\(rows.joined(separator: " "))]" + metadata.words }
}

extension Trace {
  /// Hears a query until the task it returns is cancelled.
  func listen(
    _ query: some DocumentQuerying, metadata: Bool = true,
    source: DocumentListenOptions.Source = .server
  ) -> Task<Void, Never> {
    let snapshots = query.snapshots(includingMetadata: metadata, source: source)
    return Task {
      do {
        for try await snapshot in snapshots { self.add(snapshot.words) }
      } catch {
        self.add("\(error)")
      }
    }
  }

  /// Hears a document until the task it returns is cancelled.
  func listen(_ document: DocumentLocation, metadata: Bool = true) -> Task<Void, Never> {
    let snapshots = document.snapshots(includingMetadata: metadata)
    return Task {
      do {
        for try await snapshot in snapshots { self.add(snapshot.row + snapshot.metadata.words) }
      } catch {
        self.add("\(error)")
      }
    }
  }

  /// Waits until the last entry is this one.
  func wait(forLast entry: String) async throws {
    try await wait { $0.last == entry }
  }
}
