import Foundation
import Testing

@testable import tern

/// A Chromium that can be driven; `nil` when none is installed.
let chromium = ["chromium", "chromium-browser", "google-chrome"]
  .map { "/usr/bin/" + $0 }.first(where: FileManager.default.isExecutableFile(atPath:))
let systemPython = "/usr/bin/python3"
private let script = URL(filePath: #filePath).deletingLastPathComponent()
  .appending(path: "Console/steps.py").path

@Suite(
  "Console in a browser",
  .enabled(
    if: chromium != nil && FileManager.default.isExecutableFile(atPath: systemPython),
    "Tools/setup --tests installs Chromium"))
struct ConsoleBrowserTests {
  /// No fewer steps than were written; see `Console/steps.py`.
  private static let stepCount = ["dev": 64, "rules": 20]

  /// Plays the steps against a server; pictures go to the folder that `TERN_SCREENSHOTS` names.
  private func play(_ arguments: [String], of mode: String) async throws {
    let folder = ProcessInfo.processInfo.environment["TERN_SCREENSHOTS"]
    let played = try ChildProcess(
      systemPython, [script, mode] + arguments + (folder.map { [$0 + "/" + mode] } ?? []))
    let code = await played.exitCode(within: .seconds(300))
    if code == nil { played.killNow() }
    _ = await played.output.line(within: patience) { _ in false }
    let lines = played.output.history
    #expect(lines.filter { $0.hasPrefix("FAILED") } == [])
    let passed = lines.count { $0.hasPrefix("ok ") }
    #expect(passed >= Self.stepCount[mode] ?? 0, "\(played.errors.history.suffix(20))")
    #expect(code == 0)
  }

  @Test("every step holds on a server for development")
  func development() async throws {
    try await withServer(["--dev"]) { server, _ in
      try await play([server.address], of: "dev")
      #expect(await server.stop() == 0)
    }
  }

  @Test("every step holds with rules and tokens")
  func rules() async throws {
    try await withFolder { folder in
      try #"{"rules": {"users": {".read": "auth != null"}}}"#
        .write(toFile: folder + "/rules.json", atomically: true, encoding: .utf8)
      try """
      service cloud.firestore {
        match /databases/{database}/documents {
          match /cities/{city} { allow read: if request.auth != null; }
        }
      }
      """.write(toFile: folder + "/firestore.rules", atomically: true, encoding: .utf8)
      try String(repeating: "k", count: 40)
        .write(toFile: folder + "/key", atomically: true, encoding: .utf8)
      let signed = try await run(["auth", "sign", "--key", folder + "/key", "--administrator"])
      let token = try #require(signed.output.first, "\(signed)")
      try token.write(toFile: folder + "/token", atomically: true, encoding: .utf8)
      let arguments = [
        "--rules", folder + "/rules.json", "--document-rules", folder + "/firestore.rules",
        "--auth-keys", folder + "/key",
      ]
      try await withServer(arguments) { server, _ in
        try await play([server.address, folder + "/token"], of: "rules")
        #expect(await server.stop() == 0)
      }
    }
  }
}
