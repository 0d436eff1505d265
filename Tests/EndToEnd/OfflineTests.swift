import Foundation
import TernAssembly
import TernClient
import TernCore
import TernStandard
import Testing

@testable import tern

@Suite("offline") struct OfflineTests {
  @Test("writes made without a server are kept, listed and sent", arguments: ["sqlite", "lmdb"])
  func queue(storage: String) async throws {
    try await withFolder { folder in
      let first = try await ServerUnderTest(
        folder: folder, port: "\(try freePort())")
      let cache = ["--cache", folder + "/cache", "--storage", storage]
      let flags = cache + ["--server", first.address]
      #expect(try await run(["set", "a", "1"] + flags).code == 0)
      first.process.killNow()
      _ = await first.process.exitCode(within: patience)

      let queued = try await run(["set", "b", "2", "--json"] + flags)
      #expect(queued.code == 0, "\(queued)")
      #expect(queued.output == [#"{"path":"b","state":"queued"}"#])
      let list = try await run(["pending", "list"] + cache)
      #expect(list.output.count == 1 && list.output[0].hasPrefix("pending 2 "), "\(list)")
      let whole = try await run(["pending", "salvage"] + cache)
      #expect(whole.output == list.output + ["the queue is well"], "\(whole)")
      #expect(try await run(["pending", "send"] + flags).code == 3)

      let second = try await ServerUnderTest(folder: folder, port: first.port)
      #expect(try await run(["pending", "send"] + flags).code == 0)
      #expect(try await run(["pending", "list"] + cache).output == ["nothing is waiting"])
      #expect(
        try await second.tern("get", "/", "--json").output.first?.contains(
          #"{"a":1,"b":2}"#) == true)
      #expect(try await run(["pending", "discard", "77"] + flags).code == 5)
      #expect(await second.stop() == 0)
    }
  }

  @Test("a queue with a damaged record is looked at, set right, and sent")
  func salvage() async throws {
    try await withFolder { folder in
      let server = try await ServerUnderTest(
        folder: folder, port: "\(try freePort())")
      let flags = ["--cache", folder + "/cache", "--server", server.address]
      server.process.killNow()
      _ = await server.process.exitCode(within: patience)
      for word in ["first", "broken", "third"] {
        #expect(try await run(["set", word, "\"\(word)\""] + flags).code == 0)
      }
      let file = URL(filePath: folder + "/cache/queue/rows.sqlite")
      var bytes = try Data(contentsOf: file)
      let place = try #require(bytes.range(of: Data("broken".utf8)))
      // One wrong bit would be set right.
      bytes[place.lowerBound] ^= 3
      try bytes.write(to: file)

      let closed = try await run(["pending"] + flags)
      #expect(closed.code == 1 && closed.errors.contains("tern pending salvage"), "\(closed)")
      let looked = try await run(["pending", "salvage", "--json"] + flags)
      #expect(looked.output.count == 3 && looked.output.last?.contains("damaged") == true)
      let salvaged = try await run(["pending", "salvage", "--set-aside"] + flags)
      #expect(salvaged.output.last == "the queue opens again", "\(salvaged)")
      let again = try await ServerUnderTest(folder: folder, port: server.port)
      #expect(try await run(["pending", "send"] + flags).code == 0)
      #expect(
        try await again.tern("get", "/", "--json").output.first?.contains(
          #"{"first":"first","third":"third"}"#) == true)
      let left = try await run(["pending", "salvage"] + flags)
      #expect(left.output.first?.hasPrefix("set-aside 2 ") == true, "\(left)")
      #expect(await again.stop() == 0)
    }
  }

  @Test("a damaged queue of documents is named, looked at, and opens again")
  func salvageDocuments() async throws {
    try await withFolder { folder in
      let configuration = Configuration(
        storage: .object(["kind": "sqlite", "path": .string(folder + "/cache")]),
        transport: ["kind": "loopback"])
      let tern = try await Assembler(catalog: .standard).client(from: configuration)
      await tern.documents.goOffline()
      for word in ["first", "broken", "third"] {
        try await tern.documents.document("words/" + word).set(["word": .value(.string(word))])
      }
      await tern.close()
      let queue = folder + "/cache/documents/queue"
      let file = URL(filePath: queue + "/rows.sqlite")
      var bytes = try Data(contentsOf: file)
      let place = try #require(bytes.range(of: Data("broken".utf8)))
      // One wrong bit would be set right.
      bytes[place.lowerBound] ^= 3
      try bytes.write(to: file)

      let flags = ["--cache", folder + "/cache", "--storage", "sqlite"]
      let closed = try await run(["pending"] + flags)
      #expect(closed.code == 1 && closed.errors.contains(queue), "\(closed)")
      #expect(closed.errors.contains("tern pending salvage"), "\(closed)")
      let looked = try await run(["pending", "salvage", "--json"] + flags)
      #expect(looked.output.count == 3, "\(looked)")
      #expect(looked.output.first?.contains(#""path":"words/first""#) == true)
      #expect(looked.output.last?.contains(#""queue":"documents"}"#) == true)
      let salvaged = try await run(["pending", "salvage", "--set-aside"] + flags)
      #expect(salvaged.output.last == "the queue of documents opens again", "\(salvaged)")
      #expect(try await run(["pending"] + flags).code == 0)
      let left = try await run(["pending", "salvage"] + flags)
      #expect(left.output.contains { $0.hasPrefix("set-aside 2 ") }, "\(left)")
      #expect(left.output.last == "the queue is well", "\(left)")
    }
  }

  @Test("the tour plays to its end")
  func tour() async throws {
    let tour = try await run(["tour"])
    #expect(tour.code == 0, "\(tour.errors)\n\(tour.output.joined(separator: "\n"))")
  }
}

extension OfflineTests {
  @Test("without a server a part of a place is printed as one, with code 3")
  func parts() async throws {
    try await withFolder { folder in
      let flags = ["--cache", folder + "/cache", "--server", "127.0.0.1:1"]
      #expect(try await run(["set", "off/a", "1"] + flags).code == 0)
      let part = try await run(["get", "off"] + flags)
      #expect(part.code == 3 && part.output == ["{", #"  "a": 1"#, "}"], "\(part)")
      #expect(part.errors.contains("incomplete"), "\(part)")
      let json = try await run(["get", "off", "--json"] + flags)
      #expect(json.output.first?.contains(#""complete":false"#) == true, "\(json)")
      #expect(try await run(["get", "off/a"] + flags).output == ["1"])
      #expect(try await run(["export", "off", folder + "/x"] + flags).code == 3)
      #expect(try await run(["get", "elsewhere"] + flags).output.isEmpty)
    }
  }
}
