import TernCore
import TernDocumentWire
import TernQuery

/// A client with one listen stream, and another that writes.
struct ListenScenario {
  private let server: SpecServer
  private var stream: UInt32 = 0
  private var token: [UInt8] = []

  private init() throws {
    server = try SpecServer(try DocumentDatabase(projectID: "p"))
    try connect()
  }

  /// Returns what the server says to what a recording's client does.
  static func play(_ name: String) throws -> [WatchChange] {
    var scenario = try ListenScenario()
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 3 else { throw SpecError("no scenario is called \(name)") }
    switch parts[1] {
    case "lifecycle": return try scenario.lifecycle(parts[2])
    case "protocol": return try scenario.protocolRules(parts[2])
    case "resume": return try scenario.resume(parts[2])
    case "filter": return try scenario.filter(parts[2])
    case "atomic": return try scenario.atomic(parts[2])
    default: throw SpecError("no scenario is called \(name)")
    }
  }

  // MARK: - Steps

  private mutating func connect() throws {
    if stream > 0 { try server.cancel(stream) }
    stream = try server.open(.listen)
  }

  private static func key(_ id: String) -> DocumentKey {
    DocumentKey(unchecked: id.contains("/") ? id : "C/\(id)")
  }

  private func set(_ id: String, _ fields: DocumentMap) throws {
    try commit(DocumentMutation(Self.key(id), .set(DocumentFields(fields))))
  }

  private func set(_ id: String, _ group: String, _ n: Int64) throws {
    try set(id, DocumentMap([("g", .string(group)), ("n", .integer(n))]))
  }

  private func commit(_ writes: DocumentMutation...) throws {
    let request = DocumentRequest(
      .commit(writes, transaction: [], nil), in: server.database)
    let outcome = try server.call(.commit, request.encode())
    if let failure = outcome.failure { throw SpecError("cannot write: \(failure)") }
  }

  private mutating func add(
    _ id: Int32, _ subject: WatchTarget.Subject, resume: WatchTarget.Resume? = nil,
    expectedCount: Int? = nil
  ) throws -> [WatchChange] {
    let target = WatchTarget(
      id: id, subject: subject, resume: resume, expectedCount: expectedCount)
    return keep(try server.say(stream, .listen(.add(target))))
  }

  /// Returns what the stream was told since the last look.
  private mutating func news() -> [WatchChange] { keep(server.take(stream)) }

  private mutating func keep(_ outcome: SpecServer.Outcome) -> [WatchChange] {
    let changes = outcome.responses.compactMap { response -> WatchChange? in
      if case .listen(let change) = response { change } else { nil }
    }
    for case .target(let change) in changes where !change.resumeToken.isEmpty {
      token = change.resumeToken
    }
    return changes
  }

  private func documents(_ ids: String...) -> WatchTarget.Subject {
    .documents(ids.map(Self.key))
  }

  private func group(_ name: String) throws -> WatchTarget.Subject {
    let path = try DocumentFieldPath(["g"])
    return .query(
      try DocumentQuery.collection(try CollectionPath("C"))
        .where(path, .equal, .string(name)).target)
  }

  // MARK: - Scenarios

  private mutating func lifecycle(_ name: String) throws -> [WatchChange] {
    try set("a", DocumentMap([("n", .integer(name == "update" ? 1 : 2))]))
    _ = try add(1, documents("a"))
    let two = DocumentMap([("n", .integer(2))])
    switch name {
    case "update", "same-data":
      try set("a", two)
      return news()
    case "readd":
      _ = keep(try server.say(stream, .listen(.remove(1))))
      return try add(2, documents("a"))
    case "delete":
      _ = keep(try server.say(stream, .listen(.remove(1))))
      _ = try add(2, documents("a"))
      try commit(DocumentMutation(Self.key("a"), .delete))
      return news()
    default: throw SpecError("no scenario is called \(name)")
    }
  }

  private mutating func protocolRules(_ name: String) throws -> [WatchChange] {
    switch name {
    case "collection-group":
      try set("p/x/c/c1", DocumentMap([("n", .integer(1))]))
      try set("p/y/c/c2", DocumentMap([("n", .integer(2))]))
      return try add(1, .query(try DocumentQuery.group("c").target))
    case "equality-only-query":
      try set("a", "proto", 5)
      try set("b", "proto", 2)
      return try add(1, group("proto"))
    case "duplicate-id":
      _ = try add(1, documents("a"))
      return try add(1, documents("b"))
    case "server-assigned-id":
      try set("a", "proto", 1)
      return try add(0, documents("a"))
    case "missing-index": return []
    case "read-time-after-write":
      try set("a", "proto", 5)
      try set("other", "x", 1)
      let time = DocumentVersion(microseconds: server.now * 1_000)
      return try add(1, group("proto"), resume: .readTime(time))
    case "read-time-before-write":
      try set("other", "x", 1)
      let time = DocumentVersion(microseconds: server.now * 1_000)
      try set("a", "proto", 5)
      return try add(1, group("proto"), resume: .readTime(time))
    default: throw SpecError("no scenario is called \(name)")
    }
  }

  private mutating func resume(_ name: String) throws -> [WatchChange] {
    let subject = try group(name == "expired" ? "expired" : "resume")
    switch name {
    case "first", "unchanged", "current", "older":
      try set("a", "resume", 1)
      try set("b", "resume", 1)
      let first = try add(1, subject)
      if name == "first" { return first }
      if name == "older" { try set("a", "resume", 2) }
      if name != "unchanged" { try set("b", "resume", 2) }
      // What the broken stream was told is not kept.
      let known = token
      try connect()
      return try add(1, subject, resume: .token(known), expectedCount: 2)
    case "invalid": return try add(1, subject, resume: .token([9, 8, 7, 6]))
    case "expired":
      try set("a", "expired", 1)
      _ = try add(1, subject)
      let known = token
      server.now += 2 * 3_600_000
      try set("a", "expired", 2)
      try connect()
      return try add(1, subject, resume: .token(known))
    default: throw SpecError("no scenario is called \(name)")
    }
  }

  private mutating func filter(_ name: String) throws -> [WatchChange] {
    for id in ["a", "b", "c"] { try set(id, "filter", 1) }
    _ = try add(1, group("filter"))
    let known = token
    try connect()
    try commit(DocumentMutation(Self.key("b"), .delete))
    try set("c", "filter-other", 2)
    return try add(
      1, group("filter"), resume: .token(known),
      expectedCount: name == "with-expected-count" ? 3 : nil)
  }

  private mutating func atomic(_ name: String) throws -> [WatchChange] {
    _ = try add(1, group("atomic"))
    func atomic(_ n: Int64) -> DocumentFields {
      DocumentFields(DocumentMap([("g", .string("atomic")), ("n", .integer(n))]))
    }
    if name == "single-commit" {
      try commit(
        DocumentMutation(Self.key("c"), .set(atomic(1))),
        DocumentMutation(Self.key("d"), .set(atomic(1))))
      return news()
    }
    try set("a", "atomic", 2)
    let first = news()
    try set("b", "atomic", 2)
    return first + news()
  }
}
