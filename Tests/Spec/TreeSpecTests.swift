import Foundation
import TernSpecReplay
import Testing

/// The folder of recordings: `TERN_SPEC`, or `../shared/spec` beside the checkout.
let recordings: String = {
  if let named = ProcessInfo.processInfo.environment["TERN_SPEC"] { return named }
  var checkout = URL(filePath: #filePath)
  for _ in 0..<3 { checkout.deleteLastPathComponent() }
  return checkout.deletingLastPathComponent().appending(path: "shared/spec").path()
}()

@Suite("Recorded scenarios")
struct TreeSpecTests {
  @Test(
    "the tree client raises the recorded events",
    .enabled(
      if: FileManager.default.fileExists(atPath: recordings), "no recordings in \(recordings)"))
  func treeClient() throws {
    let file = recordings + "/tree/sync-points.json"
    let contents = try #require(FileManager.default.contents(atPath: file))
    let report = try TreeSpec.replay([UInt8](contents))
    for entry in report.entries {
      #expect(entry.verdict == .passed, "\(entry.line)")
    }
    #expect(report.passedCount >= 80)
  }

  @Test("a merge for a listen that has no data is ignored, a set of one child is not")
  func mergeInFlight() throws {
    let report = try TreeSpec.replay(
      Array(
        #"""
        [{"name": "merge in flight", "steps": [
          {"type": "listen", "path": "foo", "callbackId": 1, "events": []},
          {"type": "serverMerge", "path": "foo", "data": {"a": 1}, "events": []},
          {"type": "serverUpdate", "path": "foo", "data": {"b": 2}, "events": [
            {"path": "foo", "type": "child_added", "name": "b", "prevName": null, "data": 2},
            {"path": "foo", "type": "value", "data": {"b": 2}}]},
          {"type": "serverMerge", "path": "foo", "data": {"a": 1}, "events": [
            {"path": "foo", "type": "child_added", "name": "a", "prevName": null, "data": 1},
            {"path": "foo", "type": "value", "data": {"a": 1, "b": 2}}]}]}]
        """#.utf8))
    #expect(report.entries.map(\.verdict) == [.passed], "\(report.entries.map(\.line))")
  }

  @Test("events of one kind are a set; a step that lacks one of them fails")
  func sets() throws {
    func verdicts(_ events: String) throws -> [SpecReport.Verdict] {
      try TreeSpec.replay(
        Array(
          #"""
          [{"name": "two children", "steps": [
            {"type": "listen", "path": "foo", "callbackId": 1, "events": []},
            {"type": "serverUpdate", "path": "foo", "data": {"a": 1, "b": 2}, "events": [
              \#(events)
              {"path": "foo", "type": "value", "data": {"a": 1, "b": 2}}]}]}]
          """#.utf8)
      ).entries.map(\.verdict)
    }
    let a = #"{"path": "foo", "type": "child_added", "name": "a", "prevName": null, "data": 1},"#
    let b = #"{"path": "foo", "type": "child_added", "name": "b", "prevName": "a", "data": 2},"#
    #expect(try verdicts(b + a) == [.passed])
    #expect(try verdicts(a + b) == [.passed])
    #expect(try verdicts(a) != [.passed])
    #expect(try verdicts(a + a + b) != [.passed])
  }
}
