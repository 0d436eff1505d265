import Foundation
import Testing

@testable import tern

/// The Python that `Tools/python` makes.
private let python = folder(of: "../../.build/python/bin/python")
private let script = folder(of: "Admin/documents.py")

private func folder(of path: String) -> String {
  URL(filePath: #filePath).deletingLastPathComponent().appending(path: path)
    .path
}

@Suite(
  "Firestore's client for Python",
  .enabled(if: FileManager.default.isExecutableFile(atPath: python), "run Tools/python first"))
struct FirestoreTests {
  /// No fewer cases than were written; see `Admin/documents.py`.
  private static let caseCount = 105

  @Test("every case holds", arguments: ["memory", "sqlite", "lmdb"])
  func cases(storage: String) async throws {
    try await withServer(["--storage", storage, "--dev"]) { server, _ in
      let played = try ChildProcess(python, [script, server.address])
      let code = await played.exitCode(within: .seconds(300))
      if code == nil { played.killNow() }
      _ = await played.output.line(within: patience) { _ in false }
      let lines = played.output.history
      let failed = lines.filter { $0.hasPrefix("FAILED") }
      #expect(failed == [])
      let passed = lines.count { $0.hasPrefix("ok ") }
      #expect(passed >= Self.caseCount, "\(played.errors.history.suffix(20))")
      #expect(code == 0)
      #expect(await server.stop() == 0)
    }
  }
}
