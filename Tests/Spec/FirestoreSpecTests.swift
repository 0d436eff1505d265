import Foundation
import TernSpecReplay
import Testing

@Suite("Recorded behavior of Cloud Firestore")
struct FirestoreSpecTests {
  /// A group of recordings, and the number of its cases that are skipped with a reason.
  struct Group: Sendable, CustomTestStringConvertible {
    let name: String
    let skipped: Int

    var testDescription: String { name }
  }

  @Test(
    "the rules, queries, listens and writes of the service are replayed as recorded",
    .enabled(
      if: FileManager.default.fileExists(atPath: recordings), "no recordings in \(recordings)"),
    arguments: [
      Group(name: "rules", skipped: 0), Group(name: "backend-queries", skipped: 92),
      Group(name: "listen", skipped: 2), Group(name: "bloom", skipped: 0),
      Group(name: "conformance", skipped: 16), Group(name: "pipelines", skipped: 63),
    ])
  func group(_ group: Group) async throws {
    let folder = FirestoreRecordings(path: recordings + "/firestore")
    try await FirestoreSpec.replay(folder, groups: [group.name]) { _, report in
      #expect(report.failedCount == 0, "\(report.summary)")
      #expect(report.skippedCount <= group.skipped, "\(report.summary)")
      #expect(!report.entries.isEmpty)
    }
  }
}
