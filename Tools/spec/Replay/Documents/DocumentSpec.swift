import TernCore
import TernStorage

/// Replays recorded scenarios of one document client against a replica without a server.
///
/// Source: documents reference, section 10.
public enum DocumentSpec {
  /// Replays all cases of a file.
  ///
  /// - Parameters:
  ///   - json: Cases by name, as the files of `documents/` have them.
  ///   - storage: Where the client keeps what it knows.
  public static func replay(_ json: [UInt8], on storage: SpecStorage) throws -> SpecReport {
    guard case .object(let cases) = try JSONValue(parsing: json) else {
      throw SpecError("a file of cases is an object")
    }
    let store = try storage.open()
    return SpecReport(
      cases.enumerated().map { index, member in
        // Each case has a corner of the store of its own.
        let place = SpecPlace(
          store: store, prefix: [UInt8(index >> 8), UInt8(index & 0xFF)],
          isDurable: storage.isDurable)
        return SpecReport.Entry(
          name: member.name, verdict: verdict(on: member.name, member.value, place))
      })
  }

  private static func verdict(
    on name: String, _ recorded: JSONValue, _ place: SpecPlace
  ) -> SpecReport.Verdict {
    let tags = (try? recorded["tags"]?.list.compactMap(\.text)) ?? []
    let steps = (try? recorded["steps"]?.list) ?? []
    if let reason = skip(name, tags, steps, place) { return .skipped(reason) }
    do {
      var run = try DocumentSpecRun(recorded["config"] ?? .null, place)
      for (index, step) in steps.enumerated() {
        do {
          try run.perform(step)
          let differences = try run.differences(from: step)
          if !differences.isEmpty {
            return .failed(
              "  step \(index + 1) of \(steps.count): \(step.json)\n"
                + differences.map { "    \($0)\n" }.joined())
          }
        } catch {
          return .failed("  step \(index + 1) of \(steps.count): \(step.json)\n    \(error)")
        }
      }
      return .passed
    } catch {
      return .failed("  \(error)")
    }
  }

  /// Returns the reason a scenario of several clients cannot be played with several that share one
  /// engine.
  ///
  /// A store is open in one process at a time, and one engine owns its connection; clients that
  /// take both over from each other do not exist here.
  private static func takeover(_ steps: [JSONValue]) -> String? {
    let foreign: Set<String> = [
      "shutdown", "restart", "clearPersistence", "failDatabase", "runTimer",
    ]
    for step in steps {
      guard case .object(let members) = step else { continue }
      if let name = members.map(\.name).first(where: { foreign.contains($0) }) {
        return "multi-client: \(name), where one engine owns the store"
      }
      if step["clientIndex"].flatMap(\.integer) ?? 0 > 0 {
        if step["applyClientState"]?["primary"] == .bool(true)
          || step["expectedState"]?["isPrimary"] == .bool(true)
        {
          return "multi-client: another client takes the connection over"
        }
        if step["enableNetwork"] != nil || step["changeUser"] != nil {
          return "multi-client: each with a network or a user of its own"
        }
      }
    }
    return nil
  }

  /// Cases that play out otherwise here. Source: Docs/Decisions/0010, at its end.
  private static let otherwise = [
    "Un-listen to listeners from different source":
      "multi-client: what nobody asks the server about any more is from the cache"
  ]

  private static func skip(
    _ name: String, _ tags: [String], _ steps: [JSONValue], _ place: SpecPlace
  ) -> String? {
    if tags.contains("multi-client"), let reason = takeover(steps) { return reason }
    if steps.contains(where: { $0["failDatabase"] != nil }) {
      return "failDatabase: a store that fails operation by operation, as a browser's does"
    }
    if let reason = otherwise[name] { return reason }
    if tags.contains("durable-persistence"), !place.isDurable { return "durable-persistence" }
    if tags.contains("eager-gc"), place.isDurable { return "eager-gc" }
    return nil
  }
}

/// The storage of one scenario's client.
struct SpecPlace {
  let store: any OrderedStore
  let prefix: [UInt8]
  let isDurable: Bool
}
