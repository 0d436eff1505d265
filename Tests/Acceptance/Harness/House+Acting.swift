import Synchronization
import TernClient
import TernCore
import TernFirebaseCompat
import TernServer
import TernSync

extension House {
  func plug(_ name: String) {
    guard let room = try? room(name) else { return }
    room.cable.plug()
    room.database.goOnline()
  }

  func unplug(_ name: String, noticed: Bool = true) {
    try? room(name).cable.unplug(noticed: noticed)
  }

  func flap(_ name: String) { try? room(name).cable.flap() }
  func silence(_ name: String) { try? room(name).cable.silence() }
  func holdFrames(_ name: String) { try? room(name).cable.hold() }
  func releaseFrames(_ name: String) { try? room(name).cable.release() }
  func cutAfter(frames count: Int, of name: String) {
    try? room(name).cable.cut(afterFrames: count)
  }
  func waitForCut(_ name: String) async throws { try await room(name).cable.waitForCut() }
  func received(_ name: String) -> [String] { (try? room(name).cable.received) ?? [] }

  /// Returns the number of requests of one action that a client has sent.
  func sent(_ name: String, action: String) -> Int {
    (try? room(name).cable.sent(action: action)) ?? 0
  }

  func answerConditionalPuts(of name: String, with status: String) {
    try? room(name).cable.answerConditionalPuts(with: status)
  }

  func conditionalPuts(of name: String) -> Int { (try? room(name).cable.conditionalPuts) ?? 0 }

  /// Waits until the server has so many sessions: what ended ones had sent, and left for their end,
  /// was carried out.
  func waitForSessions(_ count: Int) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while let server = state.withLock({ $0.server }), await server.sessionCount != count {
      if ContinuousClock.now > deadline { throw DatabaseError.closed("sessions do not end") }
      await Task.yield()
    }
  }

  /// Lets go of the client that looks into the server.
  func forgetInspector() async {
    await forget("inspector")
    state.withLock { $0.rooms["inspector"] = nil }
  }

  /// Ends a client for good.
  func forget(_ name: String) async {
    await (try? room(name).database)?.close()
  }

  /// The ways a client can leave, each with the name of the client that leaves that way.
  static let waysOut: [(String, @Sendable (House, String) async throws -> Void)] = [
    ("goodbye", { house, name in try house.room(name).database.goOffline() }),
    ("cut", { house, name in house.unplug(name) }),
    ("crash", { house, name in try await house.crash(name) }),
  ]

  /// Returns when every event caused before has been delivered.
  func settle(_ db: Database) async {
    let number = state.withLock { state in
      state.markers += 1
      return state.markers
    }
    let marker = db.reference(withPath: "markers/\(number)")
    let seen = Trace()
    let handle = seen.observe(.value, of: marker)
    now { marker.setValue(number) }
    _ = try? await seen.wait(for: "value \(number)")
    marker.removeObserver(withHandle: handle)
  }

  /// Listens to a place until it is there and stored, then lets go of it.
  func visit(_ place: String, with db: Database) async throws {
    let seen = Trace()
    let handle = seen.observe(.value, of: db.reference(withPath: place))
    try await seen.wait { $0.last.map { $0 != "value null" } ?? false }
    try await db.waitUntilSynced(place)
    db.reference(withPath: place).removeObserver(withHandle: handle)
    await settle(db)
  }

  /// Returns the server's value at a path, as an observer's trace spells it.
  func serverValue(_ path: String) async throws -> String {
    Trace.text(try await inspector().reference(withPath: path).getData().value)
  }

  /// Returns the server's value at a path, as JSON.
  func serverExport(_ path: String) async throws -> String {
    let snapshot = try await inspector().native().tree[path].get()
    return snapshot.node.json(.export)
  }

  func inspector() async throws -> Database {
    if let room = try? room("inspector") { return room.database }
    return try await open("inspector", storage: "memory")
  }
}

extension Database {
  /// Writes and returns when the write is durable on the device.
  func write(_ value: Any?, to path: String) async throws {
    let reference = reference(withPath: path)
    now { reference.setValue(value) }
    try await waitUntilDurable()
  }

  /// Waits until no write waits for the disk.
  func waitUntilDurable() async throws {
    for await status in try await native().tree.queue
    where status.pending.allSatisfy(\.isDurable) {
      return
    }
  }

  /// Waits until the server has answered every write.
  func waitForPendingWrites() async throws {
    let fence = reference(withPath: "fences").childByAutoId()
    try await fence.removeValue()
  }

  /// Waits until everything the server had sent for listens is stored.
  func waitUntilSynced(_ path: String) async throws {
    _ = try await reference(withPath: "fences").childByAutoId().getData()
  }

  /// The same, for a listener without a reader.
  func waitUntilCached(_ path: String) async throws { try await waitUntilSynced(path) }

  /// Returns true when the device can answer for a path by itself; for a client without a
  /// connection.
  func isCached(_ path: String) async throws -> Bool {
    do {
      _ = try await reference(withPath: path).getData()
      return true
    } catch {
      guard DatabaseError(error) == .unavailable else { throw error }
      return false
    }
  }
}
