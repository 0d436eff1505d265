import Foundation
import TernSpecReplay
import Testing

@Suite("Recorded expressions")
struct RulesSpecTests {
  @Test(
    "rules give the recorded verdicts",
    .enabled(
      if: FileManager.default.fileExists(atPath: recordings), "no recordings in \(recordings)"))
  func expressions() throws {
    let file = recordings + "/rules/expressions.json"
    let contents = try #require(FileManager.default.contents(atPath: file))
    let report = try RulesSpec.replay([UInt8](contents))
    for entry in report.entries {
      #expect(entry.verdict == .passed, "\(entry.line)")
    }
    #expect(report.passedCount >= 134)
  }
}
