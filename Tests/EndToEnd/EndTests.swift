import Foundation
import Testing

@testable import tern

@Suite("ends of programs") struct EndTests {
  @Test("SIGHUP does not end a server; it reads its rules again")
  func hangUp() async throws {
    try await withFolder { folder in
      let rules = folder + "/rules.json"
      try Data(#"{"rules": {}}"#.utf8).write(to: URL(filePath: rules))
      for arguments in [["--dev"], ["--rules", rules]] {
        let server = try await ServerUnderTest(folder: folder, arguments: arguments)
        defer { server.process.killNow() }
        kill(server.process.processID, SIGHUP)
        let told = await server.process.errors.line(within: patience) { $0.contains("SIGHUP") }
        #expect(told != nil)
        if arguments.count > 1 {
          let read = await server.process.errors.line(within: patience) { $0.contains("in force") }
          #expect(read != nil)
        }
        #expect(await server.stop() == 0)
      }
    }
  }

  @Test("a tour that is ended leaves no process and no folder", arguments: ["SIGTERM", "pipe"])
  func tour(how: String) async throws {
    try await withFolder { folder in
      let variables = ["TMPDIR": folder, "PATH": "/usr/bin:/bin"]
      let ended: Finished
      if how == "SIGTERM" {
        let tour = try ChildProcess(ternBinary, ["tour"], environment: variables)
        _ = await tour.output.line(within: patience) { $0.contains("listening on") }
        tour.stop()
        ended = await finish(tour)
      } else {
        let tour = try ChildProcess(
          "/bin/bash", ["-c", #""$0" tour | grep -m 1 listening"#, ternBinary],
          environment: variables)
        ended = await finish(tour)
      }
      #expect(ended.code != nil)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
      let processes = try processes(using: folder)
      #expect(processes.isEmpty, "\(processes)")
    }
  }

  /// The processes whose working folder is in `folder`.
  private func processes(using folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
      guard Int(name) != nil else { return false }
      let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(name)/cwd")
      return place?.hasPrefix(folder) == true
    }
  }

  @Test("a port that accepts and is silent does not hold a command beyond its timeout")
  func silentPort() async throws {
    try await withFolder { folder in
      let listener = try ChildProcess(
        "/usr/bin/python3",
        [
          "-c",
          """
          import socket, time
          s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(8)
          print(s.getsockname()[1], flush=True)
          time.sleep(300)
          """,
        ])
      defer { listener.killNow() }
      let port = try #require(await listener.output.line(within: patience) { _ in true })
      for words in [["get", "a"], ["doc", "get", "c/d"], ["ping"]] {
        let start = ContinuousClock().now
        let ended = try await run(words + ["--server", "127.0.0.1:\(port)", "--timeout", "2s"])
        let time = start.duration(to: ContinuousClock().now)
        #expect(ended.code == 3, "\(ended)")
        #expect(time < .seconds(60), "\(words) took \(time)")
      }
    }
  }
}
