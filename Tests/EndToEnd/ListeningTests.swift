import Foundation
import Testing

@testable import tern

@Suite("where a server listens") struct ListeningTests {
  /// Addresses that other machines can reach, or whose meaning is decided elsewhere.
  private static let open = [
    "0.0.0.0", "::", "192.0.2.1", "10.0.0.7", "tern.example", "127.0.0.1.example",
    "localhost.example", "128.0.0.1", "::ffff:0.0.0.0", "0", "",
  ]

  private static let ways = ["flag", "file", "environment"]

  @Test(
    "beyond this machine nothing is served in the clear, wherever the address stands",
    arguments: ways)
  func refusal(way: String) async throws {
    try await withFolder { folder in
      for host in Self.open {
        let refused = try await serve(host, by: way, in: folder)
        #expect(refused.code == 2, "\(way) \(host): \(refused)")
        let isTold =
          refused.errors.contains("in the clear") && refused.errors.contains("--insecure")
        #expect(isTold, "\(way) \(host): \(refused)")
      }
      let file = folder + "/firebase.json"
      let project = #"{"emulators": {"database": {"host": "0.0.0.0", "port": 0}}}"#
      try Data(project.utf8).write(to: URL(filePath: file))
      let refused = try await run(["serve", "--dev"], folder: folder)
      #expect(refused.code == 2 && refused.errors.contains("--dev is for 127.0.0.1"), "\(refused)")
      #expect(!FileManager.default.fileExists(atPath: folder + "/tern-data"))
    }
  }

  @Test("an allowed address is served, and this machine always is", arguments: ways)
  func allowed(way: String) async throws {
    try await withFolder { folder in
      for (host, more) in [("0.0.0.0", ["--insecure"]), ("127.0.0.1", []), ("localhost", [])] {
        let child = try start(host, by: way, more, in: folder)
        defer { child.killNow() }
        let line = await child.output.line(within: patience) { $0.hasPrefix("listening on ") }
        #expect(line != nil, "\(way) \(host): \(child.errors.history)")
        child.stop()
        #expect(await child.exitCode(within: patience) == 0)
      }
    }
  }

  @Test("figures for operators leave this machine only when that is asked for")
  func adminHost() async throws {
    try await withFolder { folder in
      var environment = ProcessInfo.processInfo.environment
      environment["TERN_ADMIN_HOST"] = "0.0.0.0"
      environment["TERN_ADMIN_PORT"] = "0"
      let arguments = ["serve", "--port", "0", "--storage", "memory"]
      let refused = try await run(arguments, environment: environment, folder: folder)
      #expect(refused.code == 2, "\(refused)")
      #expect(refused.errors.contains("in the clear"), "\(refused)")
      environment["TERN_ADMIN_INSECURE"] = "true"
      let child = try ChildProcess(
        ternBinary, arguments, environment: environment, folder: folder)
      defer { child.killNow() }
      let line = await child.output.line(within: patience) { $0.hasPrefix("for operators: ") }
      #expect(line != nil, "\(child.errors.history)")
    }
  }

  private func start(
    _ host: String, by way: String, _ more: [String] = [], in folder: String
  ) throws -> ChildProcess {
    var arguments = ["serve", "--port", "0", "--storage", "memory"] + more
    var environment = ProcessInfo.processInfo.environment
    switch way {
    case "flag": arguments += ["--host", host]
    case "file":
      let file = folder + "/tern.json"
      let text = #"{"transport": {"kind": "tcp", "host": "\#(host)"}}"#
      try Data(text.utf8).write(to: URL(filePath: file))
      arguments += ["--config", file]
    default: environment["TERN_TRANSPORT_HOST"] = host
    }
    return try ChildProcess(ternBinary, arguments, environment: environment, folder: folder)
  }

  private func serve(_ host: String, by way: String, in folder: String) async throws -> Finished {
    let child = try start(host, by: way, in: folder)
    child.closeInput()
    return await finish(child)
  }

  @Test("how much one address may ask, and send at once, is configured", arguments: ways)
  func rates(way: String) async throws {
    try await withFolder { folder in
      var arguments = ["--storage", "memory"]
      var environment = ProcessInfo.processInfo.environment
      switch way {
      case "flag": arguments += ["--limit-address", "1", "--limit-body", "1000"]
      case "file":
        let file = folder + "/tern.json"
        let text = #"{"limits": {"requestsPerAddress": 1, "bodyBytes": 1000}}"#
        try Data(text.utf8).write(to: URL(filePath: file))
        arguments += ["--config", file]
      default:
        environment["TERN_LIMITS_REQUESTS_PER_ADDRESS"] = "1"
        environment["TERN_LIMITS_BODY_BYTES"] = "1000"
      }
      let child = try ChildProcess(
        ternBinary, ["serve", "--dev", "--port", "0"] + arguments, environment: environment,
        folder: folder)
      defer { child.killNow() }
      let line = await child.output.line(within: patience) { $0.hasPrefix("listening on ") }
      let address = try #require(line, "\(child.errors.history)").dropFirst("listening on ".count)
      let port = try #require(UInt16(address.split(separator: ":").last ?? ""))
      let one = "GET /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
      let last = "GET /a.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      let requests = String(repeating: one, count: 60) + last
      let answers = try sendBytes(Array(requests.utf8), toPort: port, endingOutput: false)
      let text = String(decoding: answers, as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 200"))
      #expect(text.contains("HTTP/1.1 429") && text.contains("one address may make 1 a second"))
      let large = "PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n"
      let refused = try sendBytes(Array(large.utf8), toPort: port, endingOutput: false)
      #expect(String(decoding: refused, as: UTF8.self).contains("larger than 1000 bytes"))
    }
  }
}
