import TernCore
import TernDocumentAuthority
import TernLedger
import TernSecurity
import TernTransport

extension ServerReport {
  /// The most databases that are told.
  ///
  /// Together with the limit on connections it bounds the size of the status.
  private static let mostDatabases = 1_000

  /// The status for operators.
  ///
  /// - Parameter limit: The most connections that are listed; the rest is counted.
  func status(connections limit: Int) -> [JSONValue.Member] {
    let sessions = sessions
    let databases = databases
    return [
      .init("version", .string(server.surroundings.version)),
      .init("state", .string(server.readiness.state)),
      .init("reasons", .array(server.readiness.details.map { .string($0) })),
      .init("time", .integer(server.now)),
      .init("uptimeMilliseconds", .integer(server.uptime)),
      .init("process", process), .init("memory", memory), .init("store", store),
      .init("ledger", ledgerStatus), .init("totals", totals),
      .init("queues", .array(queues.map(Self.queue))),
      .init(
        "sessions",
        .counts([
          ("tree", sessions.tree), ("documents", sessions.documents), ("fresh", sessions.fresh),
          ("listens", sessions.treeListens + sessions.documentListens),
          ("queries", sessions.treeQueries + sessions.documentQueries),
        ])),
    ] + connections(limit: limit) + [
      .init("databases", .array(Array(databases.prefix(Self.mostDatabases)))),
      .init("databasesOmitted", .integer(Int64(max(0, databases.count - Self.mostDatabases)))),
      .init("denials", .array(server.surroundings.denials.map(Self.denial))),
      .init("trouble", server.readiness.trouble.map { .string($0) } ?? .null),
      .init("endedBackup", server.surroundings.endedBackup.map(Self.endedBackup) ?? .null),
    ]
  }

  /// The open connections, those that hold most first.
  func connections(limit: Int) -> [JSONValue.Member] {
    let all = server.links.all
      .map { (state: $0, bytes: heldBytes(of: $0)) }
      .sorted { ($1.bytes, $0.state.slot) < ($0.bytes, $1.state.slot) }
    return [
      .init("connections", .array(all.prefix(limit).map { connection($0.state) })),
      .init("connectionsOmitted", .integer(Int64(max(0, all.count - limit)))),
    ]
  }

  /// Returns the memory of a session's listens.
  ///
  /// The bytes charged for listens of the tree and of all calls about documents.
  private func listenBytes(of session: Session?) -> Int {
    guard let session else { return 0 }
    let calls = session.documents?.calls.values.reduce(0) { $0 + $1.chargedBytes } ?? 0
    return session.charge.bytes + calls
  }

  private func heldBytes(of state: LinkState) -> Int {
    listenBytes(of: server.batches.machine.sessions[state.slot]) + state.waitingBytes
      + state.link.queuedBytes
  }

  /// Returns one connection as operators see it.
  ///
  /// `state` is `slowed` while the server reads nothing from the link because its client holds too
  /// much memory, `held` while it leaves so much unread that its inputs wait, else `open`.
  private func connection(_ state: LinkState) -> JSONValue {
    let session = server.batches.machine.sessions[state.slot]
    let isHeld = server.links.held.contains(state.slot)
    let condition = state.slowedSince != nil ? "slowed" : isHeld ? "held" : "open"
    let identity = session?.identity ?? .anonymous
    return .object([
      .init("id", .string(state.id)), .init("protocol", .string(state.protocolName)),
      .init("model", model(of: session)), .init("address", .string(state.address)),
      .init("database", database(of: session)),
      .init("user", identity.userID.map { .string($0) } ?? .null),
      .init("isAdministrator", .bool(identity == .administrator)),
      .init("isLocal", .bool(session?.isLocal ?? false)),
      .init("ageMilliseconds", .integer(server.uptime - state.opened)),
      .init("idleMilliseconds", .integer(max(0, server.uptime - state.lastHeard))),
      .init(
        "listens",
        .integer(Int64((session?.listens.count ?? 0) + (session?.documents?.targetCount ?? 0)))),
      .init("listenBytes", .integer(Int64(listenBytes(of: session)))),
      .init("waitingBytes", .integer(Int64(state.waitingBytes))),
      .init("queuedBytes", .integer(Int64(state.link.queuedBytes))),
      .init("frames", .integer(Int64(state.frameCount))), .init("state", .string(condition)),
    ])
  }

  private func model(of session: Session?) -> JSONValue {
    guard let session else { return .null }
    if session.documents != nil { return .string("documents") }
    return session.namespace == nil ? .null : .string("tree")
  }

  private func database(of session: Session?) -> JSONValue {
    if let name = session?.namespace?.name { return .string(name) }
    let calls = session?.documents?.calls.values.compactMap(\.database?.name.resourceName) ?? []
    return calls.min().map { .string($0) } ?? .null
  }

  /// The databases that sessions have open.
  ///
  /// Linear in the sessions and calls; trees come first, each model in the order of names.
  private var databases: [JSONValue] {
    var sessions: [String: Int] = [:]
    var listens: [String: Int] = [:]
    for session in server.batches.machine.sessions.inOrder {
      if let name = session.namespace?.name { listens[name, default: 0] += session.listens.count }
      let calls = session.documents?.calls.values.compactMap(\.database?.name.resourceName) ?? []
      for name in Set(calls) { sessions[name, default: 0] += 1 }
      for call in session.documents.map({ Array($0.calls.values) }) ?? [] {
        guard let stream = call.stream, let database = call.database else { continue }
        listens[database.name.resourceName, default: 0] += database.watch.targetCount(of: stream)
      }
    }
    let trees = server.batches.machine.tree.namespaces.values.sorted { $0.name < $1.name }
    return trees.map {
      Self.database(
        "tree", $0.name, $0.sessionCount, listens[$0.name, default: 0], $0.listens.groupCount)
    }
      + server.batches.machine.documents.registry.used.map {
        let name = $0.name.resourceName
        return Self.database(
          "documents", name, sessions[name, default: 0], listens[name, default: 0],
          $0.watch.groupCount)
      }
  }

  private static func database(
    _ model: String, _ name: String, _ sessions: Int, _ listens: Int, _ queries: Int
  ) -> JSONValue {
    .object([
      .init("model", .string(model)), .init("name", .string(name)),
      .init("sessions", .integer(Int64(sessions))), .init("listens", .integer(Int64(listens))),
      .init("queries", .integer(Int64(queries))),
    ])
  }

  private static func queue(_ queue: (name: String, length: Int, limit: Int?)) -> JSONValue {
    .object([
      .init("name", .string(queue.name)), .init("length", .integer(Int64(queue.length))),
      .init("limit", .known(queue.limit)),
    ])
  }

  private static func endedBackup(_ backup: EndedBackup) -> JSONValue {
    .object([
      .init("time", .integer(backup.time)), .init("reason", .string("\(backup.reason)")),
    ])
  }

  private static func denial(_ denial: RecentDenial) -> JSONValue {
    .object([
      .init("id", denial.id.map { .string($0) } ?? .null), .init("time", .integer(denial.time)),
      .init("text", .string(denial.text)),
    ])
  }

  private var process: JSONValue {
    let system = outside.system
    return .object([
      .init("pid", .known(system.processID)), .init("residentBytes", .known(system.residentBytes)),
      .init("descriptors", .known(system.descriptors)),
      .init("cpuSeconds", system.cpuSeconds.map { .double($0) } ?? .null),
    ])
  }

  private var memory: JSONValue {
    .object([
      .init("usedBytes", .integer(Int64(server.budget.usedBytes))),
      .init("limitBytes", .integer(Int64(server.budget.limitBytes))),
      .init("uses", .counts(memoryUses.map { ($0.name, $0.bytes) })),
    ])
  }

  private var store: JSONValue {
    let system = outside.system
    return .object([
      .init("kind", system.storeKind.map { .string($0) } ?? .null),
      .init("path", system.storePath.map { .string($0) } ?? .null),
      .init("bytes", .known(system.storeBytes)), .init("freeBytes", .known(system.freeBytes)),
      .init("isFull", .bool(server.batches.machine.diskSpace != .ample)),
    ])
  }

  private var ledgerStatus: JSONValue {
    guard let ledger = outside.ledger else { return .null }
    return .object([
      .init("version", .integer(Int64(clamping: ledger.version))),
      .init("firstVersion", .integer(Int64(clamping: ledger.firstVersion))),
      .init("logBytes", .integer(Int64(ledger.logBytes))),
      .init("journalBytes", .integer(Int64(ledger.journalBytes))),
    ])
  }

  private var totals: JSONValue {
    let figures = server.metrics
    let writes = [figures.treeWrites, figures.documentWrites]
    return .counts([
      ("requests", figures.treeRequests + figures.documentRequests + figures.directRequests),
      ("writes", writes.reduce(0) { $0 + $1.accepted }),
      ("rejections", writes.reduce(0) { $0 + $1.rejected + $1.stale + $1.unavailable }),
      ("denials", figures.denials), ("rateLimited", figures.rateLimited),
      ("commits", figures.commits), ("batches", figures.batches),
      ("events", figures.treeEvents + figures.documentEvents), ("bytesOut", figures.bytesOut),
      ("bytesIn", figures.bytesIn),
      ("connections", figures.connectionsOpened.values.reduce(0, +)),
    ])
  }
}

extension JSONValue {
  fileprivate static func counts(_ counts: [(String, Int)]) -> JSONValue {
    .object(counts.map { .init($0.0, .integer(Int64($0.1))) })
  }

  fileprivate static func known(_ count: Int?) -> JSONValue {
    count.map { .integer(Int64($0)) } ?? .null
  }
}
