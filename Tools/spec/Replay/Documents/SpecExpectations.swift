import TernCore
import TernDocumentReplica
import TernQuery

/// The expectations of a scenario, which hold until it changes them.
struct SpecExpectations {
  var targets: [Int32: SpecTarget] = [:]
  var activeLimbo: Set<String> = []
  var enqueuedLimbo: Set<String> = []

  /// Takes in what a step newly expects.
  mutating func update(_ state: JSONValue) throws {
    if case .object(let members) = state["activeTargets"] ?? .null {
      targets = [:]
      for member in members {
        guard let id = Int32(member.name) else { throw SpecError("no target: \(member.name)") }
        targets[id] = try SpecTarget(recorded: member.value)
      }
    }
    if let keys = try state["activeLimboDocs"]?.list { activeLimbo = Set(keys.compactMap(\.text)) }
    if let keys = try state["enqueuedLimboDocs"]?.list {
      enqueuedLimbo = Set(keys.compactMap(\.text))
    }
  }
}

extension DocumentSpecRun {
  /// Says what differs from what a step expects.
  mutating func differences(from step: JSONValue) throws -> [String] {
    let state = step["expectedState"] ?? .null
    try expected[client, default: SpecExpectations()].update(state)
    let observed = observed.removeValue(forKey: client) ?? Observations()
    var report = Differences()
    report.compare("events", try SpecSnapshot.sorted(step), SpecSnapshot.sorted(observed))
    report.compare(
      "in sync", try step["expectedSnapshotsInSyncEvents"]?.number ?? 0,
      Int64(observed.inSyncCount))
    report.compare(
      "waits", try step["expectedWaitForPendingWritesEvents"]?.number ?? 0,
      Int64(observed.settledWaits))
    let callbacks = state["userCallbacks"] ?? .null
    report.compare(
      "acknowledged", try callbacks["acknowledgedDocs"]?.list.compactMap(\.text) ?? [],
      observed.acknowledged)
    report.compare(
      "rejected", try callbacks["rejectedDocs"]?.list.compactMap(\.text) ?? [], observed.rejected)
    try compareCounts(state, &report)
    // What is asked of the server is the business of the client that holds the connection.
    if isNetworkEnabled, client == 0, let expected = expected[0] {
      compareTargets(expected, &report)
    }
    return report.lines
  }

  private func compareCounts(_ state: JSONValue, _ report: inout Differences) throws {
    if let count = try state["numOutstandingWrites"]?.number {
      report.compare("outstanding writes", count, Int64(replica.batchesInFlight))
    }
    if let count = try state["writeStreamRequestCount"]?.number {
      report.compare("write requests", count, Int64(writeRequestCount))
    }
    if let indexes = try state["indexes"]?.list {
      report.compare("indexes", indexes.count, replica.cache.allIndexes.count)
    }
    if let count = try state["watchStreamRequestCount"]?.number {
      report.compare("watch requests", count, Int64(watchRequestCount))
    }
  }

  private func compareTargets(_ expected: SpecExpectations, _ report: inout Differences) {
    report.compare("limbo", expected.activeLimbo, Set(replica.limbo.active.values.map(\.text)))
    report.compare("waiting limbo", expected.enqueuedLimbo, Set(replica.limbo.waiting.map(\.text)))
    let actual = activeTargets.mapValues(SpecTarget.init)
    for id in Set(expected.targets.keys).union(actual.keys).sorted() {
      var found = actual[id]
      // Counts are compared where they are named.
      if expected.targets[id]?.expectedCount == nil { found?.expectedCount = nil }
      report.compare("target \(id)", expected.targets[id], found)
    }
  }
}

extension SpecSnapshot {
  fileprivate static func sorted(_ step: JSONValue) throws -> [SpecSnapshot] {
    try (step["expectedSnapshotEvents"]?.list ?? []).map { try SpecSnapshot(recorded: $0) }
      .sorted { $0.query < $1.query }
  }

  fileprivate static func sorted(_ observed: DocumentSpecRun.Observations) -> [SpecSnapshot] {
    observed.snapshots.sorted { $0.query < $1.query }
  }
}

/// The differences from the expectations, in words.
private struct Differences {
  var lines: [String] = []

  mutating func compare<Value: Equatable>(_ name: String, _ expected: Value, _ found: Value) {
    if expected != found { lines.append("\(name): expected \(expected), found \(found)") }
  }
}
