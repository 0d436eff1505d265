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
        return SpecReport.Entry(name: member.name, verdict: verdict(on: member.value, place))
      })
  }

  private static func verdict(
    on recorded: JSONValue, _ place: SpecPlace
  ) -> SpecReport.Verdict {
    let tags = (try? recorded["tags"]?.list.compactMap(\.text)) ?? []
    if let reason = skip(tags, place) { return .skipped(reason) }
    do {
      let steps = try recorded["steps"]?.list ?? []
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

  private static func skip(_ tags: [String], _ place: SpecPlace) -> String? {
    if tags.contains("multi-client") { return "multi-client" }
    if tags.contains("no-ios") { return "no-ios: another client's failures and tabs" }
    if tags.contains("durable-persistence"), !place.isDurable { return "durable-persistence" }
    if tags.contains("eager-gc"), place.isDurable { return "eager-gc" }
    return nil
  }
}

/// Where the client of one scenario keeps what it knows.
struct SpecPlace {
  let store: any OrderedStore
  let prefix: [UInt8]
  let isDurable: Bool
}
