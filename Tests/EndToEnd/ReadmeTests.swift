import Foundation
import TernAssembly
import Testing

@testable import tern

@Suite("README") struct ReadmeTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test("the first program is the one that these tests compile")
  func snippet() throws {
    let source = try text("Tests/EndToEnd/FirstProgram.swift").split(
      separator: "\n", omittingEmptySubsequences: false)
    let first = try #require(source.firstIndex { $0.hasSuffix("// README begins") })
    let last = try #require(source.firstIndex { $0.hasSuffix("// README ends") })
    let body = source[source.index(after: first)..<last].map { $0.dropFirst(2) }
    #expect(try text("README.md").contains(body.joined(separator: "\n")))
  }

  @Test("the first program does what it says", .timeLimit(.minutes(2)))
  func program() async throws {
    try await withServer { server, folder in
      let configuration = Configuration(
        storage: .object(["kind": "sqlite", "path": .string(folder + "/client")]),
        transport: .object(["kind": "tcp", "port": .text(server.port)]))
      let (printed, lines) = AsyncStream<String>.makeStream()
      try await firstProgram(configuration) {
        lines.yield($0)
      } until: {
        for await line in printed where line == #"{"title":"Hi"}"# { break }
      }
      #expect(try await server.tern("get", "rooms/42/title").output == [#""Hi""#])
    }
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
