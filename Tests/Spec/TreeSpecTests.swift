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
}
