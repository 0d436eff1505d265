import TernCore
import TernDocumentReplica
import TernQuery

/// One event of a listener in the form in which recorded and raised events are compared.
struct SpecSnapshot: Hashable, CustomStringConvertible {
  let query: String
  var code = 0
  var isFromCache = false
  var hasPendingWrites = false
  var changes: [String: [String]] = [:]

  init(_ query: DocumentQuery, _ snapshot: DocumentViewSnapshot) {
    self.query = query.id
    isFromCache = snapshot.isFromCache
    hasPendingWrites = snapshot.hasPendingWrites
    for change in snapshot.changes {
      changes["\(change.kind)", default: []].append(change.document.spelled)
    }
    sort()
  }

  init(_ query: DocumentQuery, _ status: DocumentStatus) {
    self.query = query.id
    code = status.code.rawValue
  }

  init(recorded: JSONValue) throws {
    query = try DocumentQuery(recorded: recorded["query"] ?? .null).id
    code = Int(try recorded["errorCode"]?.number ?? 0)
    if code != 0 { return }
    isFromCache = recorded["fromCache"] == .bool(true)
    hasPendingWrites = recorded["hasPendingWrites"] == .bool(true)
    for kind in ["added", "modified", "removed", "metadata"] {
      let documents = try recorded[kind]?.list ?? []
      if documents.isEmpty { continue }
      changes[kind] = try documents.map { try Document(recorded: $0).spelled }
    }
    sort()
  }

  private mutating func sort() {
    changes = changes.mapValues { $0.sorted() }
  }

  var description: String {
    if code != 0 { return "\(query): error \(code)" }
    let parts = changes.keys.sorted().map { "\($0) \(changes[$0] ?? [])" }
    return "\(query): \(isFromCache ? "from cache" : "synced")"
      + "\(hasPendingWrites ? ", pending" : "") \(parts.joined(separator: " "))"
  }
}

/// A target that a scenario's server was asked for, in the form in which it is compared.
struct SpecTarget: Hashable, CustomStringConvertible {
  let subject: WatchTarget.Subject
  let resume: WatchTarget.Resume?
  let purpose: WatchTarget.Purpose
  var expectedCount: Int?

  init(_ target: WatchTarget) {
    subject = target.subject
    resume = target.resume
    purpose = target.purpose
    expectedCount = target.expectedCount
  }

  /// - Parameter recorded: `{queries, resumeToken | readTime, targetPurpose?, expectedCount?}`.
  init(recorded: JSONValue) throws {
    let queries = try recorded["queries"]?.list.map { try DocumentQuery(recorded: $0) } ?? []
    let subjects = Set(queries.map(SpecTarget.subject))
    guard subjects.count == 1, let subject = subjects.first else {
      throw SpecError("not one target: \(recorded.json)")
    }
    self.subject = subject
    let token = Array((recorded["resumeToken"]?.text ?? "").utf8)
    let readTime = try recorded["readTime"]?.version
    resume = token.isEmpty ? readTime.map { .readTime($0) } : .token(token)
    purpose =
      switch recorded["targetPurpose"]?.text {
      case "TargetPurposeLimboResolution": .limboResolution
      case "TargetPurposeExistenceFilterMismatch": .existenceFilterMismatch
      case "TargetPurposeExistenceFilterMismatchBloom": .existenceFilterMismatchBloom
      default: .listen
      }
    expectedCount = try recorded["expectedCount"].map { Int(try $0.number) }
  }

  private static func subject(of query: DocumentQuery) -> WatchTarget.Subject {
    if case .document(let key) = query.source { return .documents([key]) }
    return .query(query.target)
  }

  var description: String {
    "\(subject) from \(resume.map { "\($0)" } ?? "the start") \(purpose.rawValue)"
      + (expectedCount.map { " expecting \($0)" } ?? "")
  }
}
