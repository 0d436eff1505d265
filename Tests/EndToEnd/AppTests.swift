import Foundation
import Testing

@testable import tern

@Suite("apps") struct AppTests {
  @Test("the demonstrations play to their end", arguments: ["scores", "presence"])
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
      let flags = ["--path", folder + "/scores", "--port", first.port]
      first.process.killNow()
      _ = await first.process.exitCode(within: patience)
      let added = try await run(["ann", "--add", "5"] + flags, program: "scores")
      #expect(added.code == 0, "\(added)")

      let second = try await ServerUnderTest(folder: folder, port: first.port)
      let board = try ChildProcess(
        binary("scores"), ["ann"] + flags)
      defer { board.killNow() }
      #expect(await board.output.line(within: patience) { $0 == "1. ann 15" } != nil)
      #expect(try await second.tern("get", "leaderboard/ann").output == ["15"])
      #expect(await second.stop() == 0)
    }
  }

  @Test("a device is seen while it is there, and its user's last time stays")
  func presence() async throws {
    try await withServer { server, _ in
      let program = binary("presence")
      let flags = ["--port", server.port]
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
}
