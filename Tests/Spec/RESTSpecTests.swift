import Foundation
import TernSpecReplay
import TernSpecServed
import Testing

@Suite("Recorded requests over REST")
struct RESTSpecTests {
  @Test(
    "a server answers over a socket as the service was seen to",
    .enabled(
      if: FileManager.default.fileExists(atPath: recordings), "no recordings in \(recordings)"))
  func programs() async throws {
    let folder = FirestoreRecordings(path: recordings + "/firestore")
    let report = try await RESTGroup.replay(folder)
    #expect(report.failedCount == 0, "\(report.entries.filter(\.isFailed).map(\.line))")
    #expect(report.passedCount >= 220, "\(report.summary)")
  }
}
