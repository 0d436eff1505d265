import Foundation
import Testing

@testable import tern

@Suite("shell") struct ShellTests {
  @Test("the end of the input waits for the verdicts of all writes", arguments: [true, false])
  func ends(saysExit: Bool) async throws {
    try await withServer { server, _ in
      for round in 1...5 {
        let lines = (1...20).map { "set lost/\(round)/\($0) \($0)" } + (saysExit ? ["exit"] : [])
        let shell = try await server.tern("shell", input: lines.joined(separator: "\n"))
        #expect(shell.code == 0, "\(shell)")
        #expect(shell.output.count { $0.hasPrefix("acknowledged ") } == 20)
        let found = try await server.tern("query", "lost/\(round)")
        #expect(found.output.count == 20, "round \(round): \(found)")
      }
    }
  }

  @Test("writes without a verdict are lost with a word and code 3, and kept with --cache")
  func undecided() async throws {
    try await withFolder { folder in
      let input = "set a 1\ndoc set c/d {}\n"
      let away = ["shell", "--server", "127.0.0.1:1"]
      let lost = try await run(away, input: input)
      #expect(lost.code == 3)
      #expect(lost.errors.contains("no server listens at 127.0.0.1:1"), "\(lost)")
      #expect(lost.errors.contains("2 writes have no verdict"), "\(lost)")
      let offline = try await run(away + ["--offline"], input: input)
      #expect(
        offline.code == 3 && offline.errors.contains("2 writes have no verdict"), "\(offline)")
      let kept = try await run(away + ["--cache", folder + "/cache"], input: input)
      #expect(kept.code == 0 && kept.errors.contains("see: tern pending"), "\(kept)")
      let pending = try await run(["pending", "--cache", folder + "/cache"])
      #expect(pending.output.count == 2, "\(pending)")
    }
  }

  @Test("help lists the words, and quotes of a command line do no harm")
  func words() async throws {
    try await withServer { server, _ in
      let shell = try await server.tern("shell", input: "help\nset a '\"x y\"'\nsetle\nget a")
      #expect(shell.output.contains { $0.hasPrefix("set PATH JSON") })
      #expect(shell.output.contains { $0 == "error no command 'setle'; did you mean settle?" })
      #expect(try await server.tern("get", "a").output == [#""x y""#])
    }
  }

  @Test("on a terminal there is a prompt, lines are edited, and the terminal is left as it was")
  func terminal() async throws {
    try await withServer { server, _ in
      // `script` gives the program a terminal.
      let child = try ChildProcess(
        "/bin/bash",
        [
          "-c", #"exec script -qec "'$0' shell --server $1; stty -a" /dev/null"#, ternBinary,
          server.address,
        ])
      for (keys, awaited) in [
        ("", "ready"), ("set a 13\u{7F}2", "acknowledged 1"), ("\u{1B}[A\u{7F}7", "acknowledged 2"),
      ] {
        if !keys.isEmpty { child.send(keys) }
        let line = await child.output.line(within: patience) { $0.contains(awaited) }
        #expect(line != nil, "\(child.output.history)")
      }
      child.closeInput()
      let ended = await finish(child)
      let shown = ended.output.joined(separator: "\n")
      #expect(shown.contains("tern> "), "\(ended)")
      #expect(shown.contains(" icanon") && shown.contains(" echo "), "\(ended)")
      #expect(try await server.tern("get", "a").output == ["17"])
    }
  }
}
