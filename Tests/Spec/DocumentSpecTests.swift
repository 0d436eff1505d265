import Foundation
import TernSpecReplay
import Testing

@Suite("Recorded scenarios of documents")
struct DocumentSpecTests {
  @Test(
    "the document client raises the recorded events, on every storage",
    .enabled(
      if: FileManager.default.fileExists(atPath: recordings), "no recordings in \(recordings)"),
    arguments: SpecStorage.all)
  func documentClient(storage: SpecStorage) throws {
    let folder = recordings + "/documents"
    var passedCount = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
      let contents = try #require(FileManager.default.contents(atPath: folder + "/" + name))
      let report = try DocumentSpec.replay([UInt8](contents), on: storage)
      for entry in report.entries where entry.isFailed {
        Issue.record("\(storage.name), \(name): \(entry.line)")
      }
      passedCount += report.passedCount
    }
    #expect(passedCount >= 163)
  }
}
