import TernCore
import TernQuery

/// Listen streams of the real service, played again.
///
/// The recordings tell in words what the client does; ``ListenScenario`` does it.
enum ListenSpec: FirestoreSpecGroup {
  static let name = "listen"

  static func replay(_ recordings: FirestoreRecordings) async throws -> SpecReport {
    SpecReport(
      try recordings.cases("listen/production.json").map { recorded in
        let name = recorded["name"]?.text ?? "?"
        return SpecReport.Entry(name: name, verdict: verdict(on: name, recorded))
      })
  }

  /// Recordings that the server deviates from on purpose, with the reasons.
  private static let deviations = [
    "listen/protocol/missing-index": "no query needs an index here",
    "listen/resume/invalid":
      "a token of another server is answered with RESET and everything, as the emulator does",
  ]

  private static func verdict(on name: String, _ recorded: JSONValue) -> SpecReport.Verdict {
    do {
      let changes = try ListenScenario.play(name)
      if let reason = deviations[name] { return .skipped(reason) }
      let found = Self.sorted(changes.map(\.spelled))
      let expected = try recorded["server"]?.list ?? []
      if try matches(found[...], expected[...]) { return .passed }
      return .failed(
        "    expected:\n" + expected.map { "      \($0.json)\n" }.joined() + "    found:\n"
          + found.map { "      \($0)\n" }.joined())
    } catch {
      return .failed("    \(error)\n")
    }
  }

  /// Documents one behind the other come in any order.
  private static func sorted(_ lines: [String]) -> [String] {
    var result: [String] = []
    var documents: [String] = []
    for line in lines {
      if line.hasPrefix("document") {
        documents.append(line)
        continue
      }
      result += documents.sorted() + [line]
      documents = []
    }
    return result + documents.sorted()
  }

  private static func matches(
    _ found: ArraySlice<String>, _ expected: ArraySlice<JSONValue>
  ) throws -> Bool {
    guard let first = expected.first else { return found.isEmpty }
    let rest = expected.dropFirst()
    if let branches = first["either"] {
      return try branches.list.contains { branch in
        try matches(found, try branch.list + rest)
      }
    }
    if first["optional"] == .bool(true), try matches(found, rest) { return true }
    guard let next = found.first, try next == spelled(first) else { return false }
    return try matches(found.dropFirst(), rest)
  }

  private static func matches(_ found: ArraySlice<String>, _ expected: [JSONValue]) throws -> Bool {
    try matches(found, expected[...])
  }

  private static func spelled(_ message: JSONValue) throws -> String {
    func ids(_ name: String) throws -> String {
      "\(try (message[name]?.list ?? []).map { try $0.number })"
    }
    if let id = message["documentChange"]?.text {
      let fields = message["fields"]?.documentMap ?? DocumentMap()
      return "document \(id) \(fields) \(try ids("targets")) \(try ids("removedTargets"))"
    }
    if let id = message["documentDelete"]?.text {
      return "document \(id) deleted \(try ids("removedTargets"))"
    }
    if let target = message["filter"] {
      return "filter \(try target.number) \(try message["count"]?.number ?? 0)"
    }
    var line = "\(message["targetChange"]?.text ?? "?") \(try ids("targets"))"
    if message["token"] == .bool(true) { line += " token" }
    if message["readTime"] == .bool(true) { line += " time" }
    if let cause = message["cause"] { line += " \(try cause.status)" }
    return line
  }
}

extension WatchChange {
  /// The message in one line.
  fileprivate var spelled: String {
    switch self {
    case .target(let change):
      let (name, cause): (String, DocumentStatus?) =
        switch change.kind {
        case .none: ("NO_CHANGE", nil)
        case .added: ("ADD", nil)
        case .removed(let status): ("REMOVE", status)
        case .current: ("CURRENT", nil)
        case .reset: ("RESET", nil)
        }
      return "\(name) \(change.targets)" + (change.resumeToken.isEmpty ? "" : " token")
        + (change.readTime == nil ? "" : " time") + (cause.map { " \($0)" } ?? "")
    case .changed(let document, let targets, let removed):
      return "document \(document.key.id) \(document.fields?.map ?? DocumentMap()) \(targets) "
        + "\(removed)"
    case .deleted(let key, _, let removed): return "document \(key.id) deleted \(removed)"
    case .removed(let key, _, let removed): return "document \(key.id) left \(removed)"
    case .filter(let target, let count, _): return "filter \(target) \(count)"
    }
  }
}
