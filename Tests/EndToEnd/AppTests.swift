import Foundation
import Testing

@testable import tern

@Suite("apps") struct AppTests {
  @Test(
    "the demonstrations play to their end", arguments: ["scores", "presence", "cities", "feed"])
  func demo(name: String) async throws {
    let finished = try await run(["--demo"], program: name)
    #expect(finished.code == 0, "\(finished)")
    #expect(finished.output.count > 8)
  }

  @Test("points given offline count once, when there is a server again")
  func offlinePoints() async throws {
    try await withFolder { folder in
      let first = try await ServerUnderTest(folder: folder)
      _ = try await first.tern("set", "leaderboard/ann", "10")
      let flags = ["--path", folder + "/scores", "--server", "127.0.0.1:\(first.port)"]
      first.process.killNow()
      _ = await first.process.exitCode(within: patience)
      let added = try await run(["ann", "--add", "5"] + flags, program: "scores")
      #expect(added.code == 0, "\(added)")

      let second = try await ServerUnderTest(folder: folder, port: first.port)
      let board = try ChildProcess(
        binary("scores"), ["ann"] + flags)
      defer { board.killNow() }
      // Marked only as long as the server has not answered.
      #expect(await board.output.line(within: patience) { $0 == "1. ann 15" } != nil)
      #expect(try await second.tern("get", "leaderboard/ann").output == ["15"])
      #expect(await second.stop() == 0)
    }
  }

  @Test("a city that grows offline has grown once, when there is a server again")
  func offlineCity() async throws {
    try await withFolder { folder in
      let first = try await ServerUnderTest(folder: folder)
      let flags = ["--path", folder + "/cities", "--server", "127.0.0.1:\(first.port)"]
      let added = try await run(
        ["NO", "--add", "Oslo", "--population", "10"] + flags, program: "cities")
      #expect(added.code == 0, "\(added)")
      let board = try ChildProcess(binary("cities"), ["NO"] + flags)
      #expect(await board.output.line(within: patience) { $0 == "from the server" } != nil)
      #expect(await board.output.line(within: patience) { $0 == "Oslo 10" } != nil)
      board.killNow()
      first.process.killNow()
      _ = await first.process.exitCode(within: patience)
      _ = await board.exitCode(within: patience)
      #expect(try await run(["--grow", "Oslo"] + flags, program: "cities").code == 0)

      let second = try await ServerUnderTest(folder: folder, port: first.port)
      let again = try ChildProcess(binary("cities"), ["NO"] + flags)
      defer { again.killNow() }
      #expect(await again.output.line(within: patience) { $0 == "Oslo 11" } != nil)
      #expect(try await second.fields("cities/Oslo") == #"{"country":"NO","population":11}"#)
      #expect(await second.stop() == 0)
    }
  }

  @Test("a post reaches its readers, and a star counts once", arguments: [[], ["--documents"]])
  func feed(model: [String]) async throws {
    try await withServer { server, folder in
      let flags = { (who: String) in
        [who, "--path", "\(folder)/\(who)", "--server", "127.0.0.1:\(server.port)"] + model
      }
      let bob = try ChildProcess(binary("feed"), flags("bob"))
      defer { bob.killNow() }
      let posted = try await run(
        flags("ann") + ["--post", "Hello", "--to", "bob"], program: "feed")
      let id = try #require(posted.output.first, "\(posted)")
      // The post is on its way as soon as the program that wrote it starts again.
      let ann = try ChildProcess(binary("feed"), flags("ann") + ["--wall"])
      #expect(await bob.output.line(within: patience) { $0 == "\(id) ann: Hello" } != nil)
      bob.killNow()
      _ = await bob.exitCode(within: patience)
      for _ in 1...2 {
        #expect(try await run(flags("bob") + ["--star", id], program: "feed").code == 0)
      }
      let wall = try ChildProcess(binary("feed"), flags("bob") + ["--wall"])
      defer { wall.killNow() }
      defer { ann.killNow() }
      #expect(await ann.output.line(within: patience) { $0 == "\(id) ann: Hello *" } != nil)
    }
  }

  @Test("a device is seen while it is there, and its user's last time stays")
  func presence() async throws {
    try await withServer { server, _ in
      let program = binary("presence")
      let flags = ["--server", "127.0.0.1:\(server.port)"]
      let ann = try ChildProcess(program, ["ann", "--device", "laptop"] + flags)
      let bob = try ChildProcess(program, ["bob", "--device", "phone"] + flags)
      defer { bob.killNow() }
      let here = "ann is online: laptop"
      #expect(await bob.output.line(within: patience) { $0 == here } != nil)
      ann.killNow()
      #expect(
        await bob.output.line(within: patience) { $0.hasPrefix("ann was last seen at ") } != nil)
    }
  }

  @Test(
    "each program says at once that there is no server",
    arguments: [
      ["scores", "--path"], ["cities", "NO", "--path"], ["feed", "--path"], ["presence"],
    ])
  func noServer(command: [String]) async throws {
    try await withFolder { folder in
      let folders = command.last == "--path" ? [folder + "/data"] : []
      let program = try ChildProcess(
        binary(command[0]), command.dropFirst() + folders + ["--server", "127.0.0.1:1"])
      defer { program.killNow() }
      let line = await program.errors.line(within: patience) {
        $0.hasPrefix("tern: no connection: no server listens at 127.0.0.1:1")
      }
      #expect(line != nil)
    }
  }

  @Test("an address with a scheme is refused with the way to write it")
  func scheme() async throws {
    let ended = try await run(["ann", "--server", "http://127.0.0.1:9000"], program: "scores")
    #expect(ended.code != 0)
    #expect(ended.errors.contains("its scheme is ws or wss, or none; write \"127.0.0.1:9000\""))
  }
}
