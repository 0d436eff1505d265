import Foundation
import Testing

@testable import tern

/// The Python that `Tools/python` makes.
private let python = folder(of: "../../.build/python/bin/python")
private let script = folder(of: "Admin/cases.py")
private let rules = folder(of: "Admin/rules.json")

private func folder(of path: String) -> String {
  URL(filePath: #filePath).deletingLastPathComponent().appending(path: path)
    .path
}

@Suite(
  "Firebase Admin SDK for Python",
  .enabled(if: FileManager.default.isExecutableFile(atPath: python), "run Tools/python first"))
struct AdminTests {
  /// No fewer cases than were written; see `Admin/cases.py`.
  private static let caseCount = 89

  @Test("every case holds", arguments: ["memory", "sqlite", "lmdb"])
  func cases(storage: String) async throws {
    let arguments = ["--storage", storage, "--dev", "--rules", rules]
    try await withServer(arguments) { server, _ in
      let played = try ChildProcess(python, [script, server.address])
      let code = await played.exitCode(within: .seconds(300))
      if code == nil { played.killNow() }
      _ = await played.output.line(within: patience) { _ in false }
      let lines = played.output.history
      #expect(lines.filter { $0.hasPrefix("FAILED") } == [])
      let passed = lines.count { $0.hasPrefix("ok ") }
      #expect(passed >= Self.caseCount, "\(played.errors.history.suffix(20))")
      #expect(code == 0)
      #expect(await server.stop() == 0)
    }
  }

  @Test("a server that is not for development takes no owner")
  func owner() async throws {
    try await withServer(["--rules", rules]) { server, _ in
      let answer = try exchange(
        "GET /secret.json?access_token=owner HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        with: server)
      #expect(answer.hasPrefix("HTTP/1.1 401"))
      #expect(answer.hasSuffix(#"{"error":"This server accepts no credentials."}"#))
    }
  }

  @Test("a development server is for this machine alone, and says what it is")
  func development() async throws {
    let refused = try await run([
      "serve", "--dev", "--insecure", "--host", "0.0.0.0", "--port", "0",
    ])
    #expect(refused.code == 2)
    #expect(refused.errors.contains("--dev is for 127.0.0.1 only"), "\(refused)")
    try await withServer(["--dev"]) { server, _ in
      #expect(await server.stop() == 0)
      _ = await server.process.errors.line(within: patience) { _ in false }
      #expect(server.process.errors.history.contains { $0.contains("warning: --dev") })
    }
  }
}

/// Sends a request and answers everything that comes back.
private func exchange(_ request: String, with server: ServerUnderTest) throws -> String {
  let port = try #require(UInt16(server.port))
  let answer = try sendBytes(Array(request.utf8), toPort: port, endingOutput: false)
  return String(decoding: answer, as: UTF8.self)
}
