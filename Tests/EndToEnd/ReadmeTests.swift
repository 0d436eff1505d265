import Foundation
import Testing

@testable import tern

@Suite("README") struct ReadmeTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test("the first program is printed as it is compiled")
  func snippet() throws {
    #expect(try text("README.md").contains("```swift\n" + text("Apps/first/main.swift") + "```"))
  }

  @Test("the first program shows its own write and reaches the server", .timeLimit(.minutes(10)))
  func program() async throws {
    try await withServer { server, folder in
      let program = try first(server: "127.0.0.1:\(server.port)", in: folder)
      defer { program.killNow() }
      #expect(await program.output.line(within: patience) { $0 == Self.written } != nil)
      #expect(await program.output.line(within: patience) { $0 == "acknowledged" } != nil)
      #expect(try await server.tern("get", "rooms/42/title").output == [#""Hi""#])
    }
  }

  @Test(
    "the first program shows its own write without a server, and says that there is none",
    .timeLimit(.minutes(10)))
  func alone() async throws {
    try await withFolder { folder in
      let program = try first(server: "127.0.0.1:1", in: folder)
      defer { program.killNow() }
      // Which of the two comes first is open.
      let complaint = "tern: no connection: no server listens at 127.0.0.1:1"
      for _ in 0..<2 {
        let line = await program.output.line(within: patience) {
          $0 == Self.written || $0.hasPrefix(complaint)
        }
        #expect(line != nil)
      }
      let lines = program.output.history
      #expect(lines.contains(Self.written) && lines.contains { $0.hasPrefix(complaint) })
      #expect(!program.output.history.contains("acknowledged"))
    }
  }

  private static let written = #"/rooms/42: {"title":"Hi"}"#

  /// Starts the program as from a terminal: each line is written when it is printed, and
  /// complaints stand among the output.
  private func first(server: String, in folder: String) throws -> ChildProcess {
    try ChildProcess(
      "/bin/sh", ["-c", #"exec stdbuf -oL "$0" "$1" 2>&1"#, binary("first"), server],
      folder: folder)
  }

  @Test("the README is short, and its folders and files exist")
  func map() throws {
    let readme = try text("README.md")
    #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 150)
    for part in readme.split(separator: "](").dropFirst() {
      guard let end = part.firstIndex(of: ")"), !part.hasPrefix("http") else { continue }
      let file = Self.root.appending(path: String(part[..<end]))
      #expect(FileManager.default.fileExists(atPath: file.path), "\(part[..<end])")
    }
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }
}
