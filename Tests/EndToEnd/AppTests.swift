import Foundation
import Testing

@testable import tern

@Suite("apps") struct AppTests {
  @Test(
    "the demonstrations play to their end",
    arguments: ["scores", "presence", "cities", "feed", "guestbook"])
  func demo(name: String) async throws {
    let finished = try await run(["--demo"], program: name)
    #expect(finished.code == 0, "\(finished)")
    #expect(finished.output.count > 8)
  }

  @Test("points given offline count once, when there is a server again")
  func offlinePoints() async throws {
    try await withFolder { folder in
      let first = try await ServerUnderTest(
        folder: folder, port: "\(try freePort())")
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
      let first = try await ServerUnderTest(
        folder: folder, port: "\(try freePort())")
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

  @Test("a file, then variables, then flags choose storage, transport and user")
  func configured() async throws {
    try await withFolder { folder in
      try write(String(repeating: "key", count: 12), to: folder + "/key")
      try write(
        #"{"rules": {".read": true, ".write": "auth.uid === 'ann'"}}"#, to: folder + "/rules.json")
      let certificate = try await ThrowawayCertificate(in: folder)
      let server = try await ServerUnderTest(
        folder: folder,
        arguments: [
          "--tls-cert", certificate.certificate, "--tls-key", certificate.key, "--rules",
          folder + "/rules.json", "--auth-keys", folder + "/key",
        ])
      defer { server.process.killNow() }
      let signed = try await run(["auth", "sign", "--key", folder + "/key", "ann"])
      let token = try write(try #require(signed.output.first), to: folder + "/token")
      // Of the file the folder counts, of the variables the kind, and the flags come last.
      let file = try write(
        """
        {"storage": {"kind": "memory", "path": "\(folder)/device"},  // a comment
         "transport": {"port": 9}}
        """, to: folder + "/client.json")
      let flags = [
        "--config", file, "--server", "wss://127.0.0.1:\(server.port)", "--ca",
        certificate.certificate, "--ns", "harbor",
      ]
      func board(_ more: [String]) throws -> ChildProcess {
        try ChildProcess(
          "/usr/bin/env", ["TERN_STORAGE_KIND=lmdb", binary("scores"), "ann"] + flags + more)
      }
      let added = try await board(["--add", "3", "--token", token]).exitCode(within: patience)
      #expect(added == 0)
      let path = folder + "/device/trees/harbor/queue"
      let kept = try FileManager.default.contentsOfDirectory(atPath: path)
      #expect(kept.contains { $0.hasSuffix(".mdb") }, "\(kept)")
      // The token is kept on the device with the points.
      let shown = try board([])
      defer { shown.killNow() }
      #expect(await shown.output.line(within: patience) { $0 == "1. ann 3" } != nil)
      let read = try await server.tern(
        "get", "leaderboard/ann", "--ns", "harbor", "--ca", certificate.certificate)
      #expect(read.output == ["3"], "\(read)")
      #expect(await server.stop() == 0)
    }
  }

  @Test(
    "what a program is told wrongly is an error that names the right words",
    arguments: [
      (
        ["--storage", "quic"], "unknown kind \"quic\"; this program was built with: memory, sqlite"
      ),
      (["--token", "/nowhere"], "nowhere"), (["--config", "/nowhere"], "nowhere"),
      (["--server", "ws://"], "it names no host"),
    ])
  func mistakes(flags: [String], words: String) async throws {
    let ended = try await run(["ann"] + flags + ["--path", "/nowhere/at/all"], program: "scores")
    #expect(ended.code != 0)
    #expect(ended.errors.contains(words), "\(ended)")
  }

  @Test("an address with a scheme is refused with the way to write it")
  func scheme() async throws {
    let ended = try await run(["ann", "--server", "http://127.0.0.1:9000"], program: "scores")
    #expect(ended.code != 0)
    #expect(ended.errors.contains("its scheme is ws or wss, or none; write \"127.0.0.1:9000\""))
  }

  @discardableResult
  private func write(_ text: String, to path: String) throws -> String {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }
}
