import Foundation
import Testing

@testable import tern

/// `tern exec`: commands beside a server of their own.
@Suite("commands beside a server of their own") struct ExecTests {
  private func play(_ arguments: [String], in folder: String) async throws -> (
    code: Int32?, output: [String], errors: [String]
  ) {
    let process = try ChildProcess(ternBinary, ["exec"] + arguments, folder: folder)
    process.closeInput()
    let code = await process.exitCode(within: patience)
    for lines in [process.output, process.errors] {
      _ = await lines.line(within: patience) { _ in false }
    }
    return (code, process.output.history, process.errors.history)
  }

  private func withRules(_ body: (String) async throws -> Void) async throws {
    try await withFolder { folder in
      try #"{"database": {"rules": "tree.json"}, "emulators": {"database": {"port": 1}}}"#
        .write(toFile: folder + "/firebase.json", atomically: true, encoding: .utf8)
      try #"{"rules": {"notes": {".read": true, ".write": true}}}"#
        .write(toFile: folder + "/tree.json", atomically: true, encoding: .utf8)
      try await body(folder)
    }
  }

  @Test("a command finds the server, under the rules of its folder, and gives its exit code")
  func command() async throws {
    try await withRules { folder in
      let script = """
        \(ternBinary) set notes/a 1 && \(ternBinary) get notes/a
        \(ternBinary) set other 1 2>/dev/null; echo "refused $?"
        echo "$FIRESTORE_EMULATOR_HOST $FIREBASE_EMULATOR_HUB $GCLOUD_PROJECT" >&2
        [ "$TERN_SERVER" = "$FIREBASE_DATABASE_EMULATOR_HOST" ] || exit 1
        exit 7
        """
      let played = try await play(["--project", "shop", "--", "/bin/sh", "-c", script], in: folder)
      #expect(played.code == 7, "\(played)")
      #expect(played.output.contains("1"), "\(played)")
      #expect(played.output.last == "refused 4")
      let places = try #require(played.errors.last).split(separator: " ")
      #expect(places.count == 3 && places[0] == places[1] && places[2] == "shop")
      // Nothing is left that could be asked.
      let port = try #require(places[0].split(separator: ":").last.flatMap { UInt16($0) })
      #expect(throws: (any Error).self) { try sendBytes([], toPort: port, endingOutput: false) }
    }
  }

  @Test("seed data are written as the owner, and documents where clients look for them")
  func seeds() async throws {
    try await withRules { folder in
      try #"{"closed": {"b": 1}}"#
        .write(toFile: folder + "/seed.json", atomically: true, encoding: .utf8)
      let script = """
        TERN_TOKEN=owner \(ternBinary) import / seed.json --yes
        TERN_TOKEN=owner \(ternBinary) get closed/b
        TERN_TOKEN=owner \(ternBinary) doc set seed/a '{"x": 7}'
        TERN_TOKEN=owner \(ternBinary) doc get seed/a --ns projects/shop/databases/'(default)'
        """
      let played = try await play(["--project", "shop", "--", "/bin/sh", "-c", script], in: folder)
      #expect(played.code == 0, "\(played)")
      #expect(played.output.contains("1"), "\(played)")
      #expect(played.output.contains { $0.contains(#""x": 7"#) }, "\(played)")
    }
  }

  @Test("a single word with spaces is run by the shell, and options of a command stay its own")
  func shell() async throws {
    try await withFolder { folder in
      #expect(try await play(["echo one && exit 3"], in: folder).code == 3)
      let printed = try await play(["printf", "%s\\n", "--rules", "-x"], in: folder)
      #expect(printed.output == ["--rules", "-x"] && printed.code == 0, "\(printed)")
    }
  }

  @Test("what cannot be run is a mistake of usage, and a signal is told as a shell does")
  func mistakes() async throws {
    try await withFolder { folder in
      #expect(try await play([], in: folder).code == 2)
      let unknown = try await play(["--", "no-such-program"], in: folder)
      #expect(unknown.code == 2 && unknown.errors == ["tern: no program 'no-such-program'"])
      #expect(try await play(["--rules", "no-such-file", "--", "true"], in: folder).code == 1)
      #expect(try await play(["kill -9 $$ "], in: folder).code == 128 + 9)
    }
  }

  @Test("help and version are told, and an unknown option is no program")
  func help() async throws {
    try await withFolder { folder in
      for flag in ["--help", "-h"] {
        let told = try await play([flag], in: folder)
        #expect(told.code == 0, "\(told)")
        #expect(told.output.contains { $0.hasPrefix("USAGE: tern exec") }, "\(told)")
      }
      let version = try await play(["--version"], in: folder)
      #expect(version.code == 0 && version.output.first?.hasPrefix("tern ") == true, "\(version)")
      let wrong = try await play(["--rulez", "x", "--", "true"], in: folder)
      #expect(wrong.code == 2 && wrong.errors.joined().contains("'--rulez'"), "\(wrong)")
      let passed = try await play(["--", "printf", "%s\\n", "--help"], in: folder)
      #expect(passed.output == ["--help"])
    }
  }

  @Test("SIGTERM is passed on, and the command decides about its end")
  func terminated() async throws {
    try await withFolder { folder in
      let process = try ChildProcess(
        ternBinary,
        ["exec", "--", "/bin/sh", "-c", "trap 'kill $!; exit 3' TERM; sleep 100 & echo up; wait"],
        folder: folder)
      let isUp = await process.output.line(within: patience) { $0 == "up" } != nil
      #expect(isUp, "\(process.errors.history)")
      process.stop()
      let code = await process.exitCode(within: patience)
      #expect(code == 3, "\(process.errors.history)")
    }
  }

  @Test(
    "SIGTERM in the first moment of the command is not the end of what runs it", arguments: 0..<8)
  func terminatedAtOnce(_: Int) async throws {
    try await withFolder { folder in
      let script = "trap 'exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"
      let process = try ChildProcess(
        ternBinary, ["exec", "--", "/bin/sh", "-c", script], folder: folder)
      let code = await process.exitCode(within: patience)
      #expect(code == 3, "\(process.errors.history)")
    }
  }
}
