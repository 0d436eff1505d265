import Foundation
import Synchronization
import TernAssembly
import TernServer
import TernStandard
import Testing

@testable import TernKit

@Suite("Opening", .timeLimit(.minutes(10)))
struct OpeningTests {
  @Test("a folder keeps what was written without a server, and an assembled client finds it")
  func folder() async throws {
    try await withFolder { folder in
      let home = try await Home()
      // A client that is opened again could reach it before it is told to go offline.
      await home.server.stop()
      let tern = try await home.open(folder)
      await tern.goOffline()
      try await tern.tree["a"].set(1)
      try await tern.documents.document("a/b").set(["n": 2])
      await tern.close()

      let again = try await home.open(folder)
      await again.goOffline()
      #expect(await again.tree.pendingWrites.count == 1)
      #expect(try await again.documents.document("a/b").get(from: .cache)["n"] == 2)
      await again.close()

      let assembled = try await Assembler(catalog: .standard).client(
        from: Configuration(
          storage: .object(["kind": "sqlite", "path": .string(folder)]),
          transport: ["kind": "loopback"]))
      await assembled.goOffline()
      #expect(await assembled.tree.pendingWrites.count == 1)
      #expect(await assembled.documents.pendingWrites.count == 1)
      await assembled.close()
    }
  }

  @Test("each namespace keeps its writes in a folder of its own")
  func namespaces() async throws {
    try await withFolder { folder in
      let home = try await Home()
      let harbor = try await home.open(folder) {
        $0.namespace = "Harbor/1"
        $0.documents = nil
      }
      await harbor.goOffline()
      try await harbor.tree["a"].set(1)
      await harbor.close()
      let plain = try await home.open(folder)
      #expect(await plain.tree.pendingWrites.isEmpty)
      await plain.close()
      #expect(
        FileManager.default.fileExists(atPath: folder + "/trees/%48arbor%2F1/queue"))
    }
  }

  @Test("what is wrong is an error with words, and leaves the folder free")
  func mistakes() async throws {
    try await withFolder { folder in
      let home = try await Home()
      await #expect(throws: OpenError.self) {
        try await TernDatabase.open(folder, server: "http://db.example.com")
      }
      await #expect(throws: OpenError.self) {
        try await home.open(folder) { $0.cacheLimitBytes = 5 }
      }
      let error = await #expect(throws: OpenError.self) {
        try await home.open(folder) { $0.token = "none" }
      }
      #expect(error?.localizedDescription == "the text is no token, or names no user")
      let tern = try await home.open(folder)
      let second = await #expect(throws: OpenError.self) { try await home.open(folder) }
      #expect(second?.description.hasPrefix("the store in \(folder)/queue: ") == true)
      await tern.close()
      try await home.open(folder).close()
    }
  }

  @Test("a database without a server says so once, and shows its own write")
  func noServer() async throws {
    let (lines, line) = AsyncStream<String>.makeStream()
    let report = StandardErrorReport { line.yield($0) }
    var options = TernOptions()
    options.storage = .memory
    options.report = { report($0) }
    let tern = try await TernDatabase.open("", server: "127.0.0.1:1", options)
    let room = tern.tree["rooms/42"]
    try await room["title"].set("Hi")
    let shown = try await room.values().first { _ in true }
    #expect(shown?.description == #"/rooms/42: {"title":"Hi"}"#)
    var iterator = lines.makeAsyncIterator()
    let told = await iterator.next()
    #expect(told?.hasPrefix("tern: no connection: no server listens at 127.0.0.1:1; ") == true)
    await tern.close()
    line.finish()
    #expect(await iterator.next() == nil)
  }
}

extension AsyncSequence {
  /// The first element that fits; `nil` when the sequence ends before.
  func first(_ fits: (Element) -> Bool) async throws -> Element? {
    for try await element in self where fits(element) { return element }
    return nil
  }
}
