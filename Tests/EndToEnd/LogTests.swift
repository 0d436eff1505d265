import Foundation
import Testing

@testable import tern

@Suite("the log without a reader") struct LogTests {
  @Test("a full pipe stops neither answers nor the end of a server")
  func fullPipe() async throws {
    try await withFolder { folder in
      let path = folder + "/log"
      try #require(unsafe mkfifo(path, 0o600) == 0)
      // This end keeps the pipe open; it is filled, and read only in the end.
      let pipe = open(path, O_RDWR | O_NONBLOCK)
      try #require(pipe >= 0)
      defer { close(pipe) }
      let filling = [UInt8](repeating: UInt8(ascii: "\n"), count: 4_096)
      while unsafe write(pipe, filling, filling.count) > 0 {}
      let server = try ChildProcess(
        "/bin/sh",
        [
          "-c",
          #"exec "$0" serve --dev --rules "$1/rules.json" --path "$1/data" --port 0 2>"$1/log""#,
          ternBinary, try rules(in: folder),
        ])
      defer { server.killNow() }
      let beginning = "listening on "
      let line = await server.output.line(within: patience) { $0.hasPrefix(beginning) }
      let port = try #require(line?.split(separator: ":").last.flatMap { UInt16($0) })
      try deny(3_000, atPort: port)
      server.stop()
      #expect(await server.exitCode(within: patience) == 0)
    }
  }

  @Test("what was dropped without a reader is reported to the next one")
  func counted() async throws {
    try await withFolder { folder in
      let path = folder + "/log"
      try #require(unsafe mkfifo(path, 0o600) == 0)
      let pipe = open(path, O_RDWR | O_NONBLOCK)
      try #require(pipe >= 0)
      defer { close(pipe) }
      let server = try ChildProcess(
        "/bin/sh",
        [
          "-c",
          #"exec "$0" serve --dev --rules "$1/rules.json" --path "$1/data" --port 0 2>"$1/log""#,
          ternBinary, try rules(in: folder),
        ])
      defer { server.killNow() }
      let line = await server.output.line(within: patience) { $0.hasPrefix("listening on ") }
      let port = try #require(line?.split(separator: ":").last.flatMap { UInt16($0) })
      try deny(12_000, atPort: port)
      let inbox = LineInbox()
      inbox.read(from: open(path, O_RDONLY))
      // From here on this is the only reader.
      let told = await inbox.line(within: patience) {
        $0.contains("lines of this log were dropped")
      }
      #expect(told != nil)
      server.stop()
      #expect(await server.exitCode(within: patience) == 0)
    }
  }

  private func rules(in folder: String) throws -> String {
    try Data(#"{"rules": {}}"#.utf8).write(to: URL(filePath: folder + "/rules.json"))
    return folder
  }

  /// Asks for what is denied, so many times in a row, and checks that every answer comes.
  private func deny(_ count: Int, atPort port: UInt16) throws {
    let one = "GET /shut.json HTTP/1.1\r\nHost: localhost\r\n"
    var left = count
    while left > 0 {
      let share = min(left, 500)
      left -= share
      let requests =
        String(repeating: one + "\r\n", count: share - 1) + one + "Connection: close\r\n\r\n"
      let answers = try sendBytes(Array(requests.utf8), toPort: port, endingOutput: false)
      let denied = String(decoding: answers, as: UTF8.self).split(separator: "Permission denied")
      try #require(denied.count == share + 1, "\(denied.count) of \(share)")
    }
  }
}
