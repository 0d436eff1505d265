import TernCore
import TernQuery
import TernTreeReplica

/// Replays recorded scenarios of one tree client against a replica without a server.
///
/// A step listens, writes, or says what the server sent; it names every event it must raise.
public enum TreeSpec {
  /// Replays all cases of a file.
  ///
  /// - Parameter json: A list of `{name, steps}`, as `tree/sync-points.json` has it.
  public static func replay(_ json: [UInt8]) throws -> SpecReport {
    guard case .array(let cases) = try JSONValue(parsing: json) else {
      throw SpecError("a file of cases is a list")
    }
    return SpecReport(
      cases.map { recorded in
        let name = recorded["name"]?.text ?? "a case without a name"
        guard case .array(let steps) = recorded["steps"] ?? .null else {
          return SpecReport.Entry(name: name, verdict: .failed("  it has no steps"))
        }
        return SpecReport.Entry(name: name, verdict: verdict(on: steps))
      })
  }

  private static func verdict(on steps: [JSONValue]) -> SpecReport.Verdict {
    var run = TreeSpecRun()
    for (index, step) in steps.enumerated() {
      do {
        let actual = try run.perform(step)
        let expected = try ExpectedEvents(step["events"])
        if let difference = expected.difference(from: actual) {
          return .failed("  step \(index + 1) of \(steps.count): \(step.json)\n\(difference)")
        }
      } catch {
        return .failed("  step \(index + 1) of \(steps.count): \(error)")
      }
    }
    return .passed
  }
}
