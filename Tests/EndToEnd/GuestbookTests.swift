import Foundation
import Testing

@testable import tern

/// A running `guestbook` with an entry of ann, and what it says of itself.
private struct GuestbookUnderTest {
  let process: ChildProcess
  let address: String
  /// The token of ben.
  let token: String

  init(in folder: String) async throws {
    process = try ChildProcess(binary("guestbook"), ["--path", folder + "/data", "--port", "0"])
    let page = await process.output.line(within: patience) { $0.hasPrefix("ben: ") }
    let found = try #require(
      page?.firstMatch(of: #/guestbook\.html#server=([0-9.:]+)&token=(\S+)/#),
      "\(process.errors.history)")
    (address, token) = (String(found.1), String(found.2))
  }

  var port: Int { address.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

  /// Types a line as ann, and waits until the server has it.
  func type(_ line: String) async -> Bool {
    process.send(line + "\n")
    return await shows("ann: " + line)
  }

  func shows(_ line: String) async -> Bool {
    await process.output.line(within: patience) { $0 == line } != nil
  }

  /// Sends a request as a page that was opened from disk does; answers status line, head and body.
  func ask(_ method: String, _ target: String, _ fields: [String] = [], body: String = "") throws
    -> (head: String, body: String)
  {
    let head =
      ["\(method) \(target) HTTP/1.1", "Host: \(address)", "Origin: null", "Connection: close"]
      + fields + ["Content-Length: \(body.utf8.count)", "", body]
    let answer = try sendBytes(
      Array(head.joined(separator: "\r\n").utf8), toPort: UInt16(port), endingOutput: false)
    let text = String(decoding: answer, as: UTF8.self)
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
    return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
  }

  /// Posts an entry with the token of ben.
  func post(_ author: String, _ text: String) throws -> (head: String, body: String) {
    try ask(
      "POST", "/entries.json", ["Authorization: Bearer \(token)", "Content-Type: text/plain"],
      body: #"{"author":"\#(author)","text":"\#(text)","at":{".sv":"timestamp"}}"#)
  }
}

@Suite("guestbook") struct GuestbookTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../..").standardizedFileURL

  private func withGuestbook(
    _ body: (GuestbookUnderTest, String) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let guestbook = try await GuestbookUnderTest(in: folder)
      defer { guestbook.process.killNow() }
      try await body(guestbook, folder)
    }
  }

  @Test("the rules allow to an author what is his own, and reading to all signed-in clients")
  func rules() async throws {
    let tested = try await run(
      [
        "rules", "test", Self.root.appending(path: "Apps/guestbook/guestbook.rules.json").path,
        Self.root.appending(path: "Docs/Examples/guestbook.cases.json").path,
      ])
    #expect(tested.code == 0 && tested.output.last == "10 passed, 0 failed", "\(tested)")
  }

  @Test("every block of the guide is code of the program or of the page")
  func guide() throws {
    func lines(_ path: String) throws -> String {
      try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        .split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
    }
    let code =
      try lines("Apps/guestbook/GuestbookServer.swift") + lines("Docs/Examples/guestbook.html")
    let blocks = try lines("Docs/Guides/embedding.md").matches(
      of: #/```(?:swift|js)\n((?:.|\n)*?)\n```/#)
    #expect(blocks.count == 6)
    for block in blocks { #expect(code.contains(block.1), "\(block.1)") }
  }

  @Test("the demonstration shows a denial with the server's reason, and no denied entry")
  func demo() async throws {
    let played = try await run(["--demo"], program: "guestbook")
    #expect(played.code == 0, "\(played)")
    let denials = played.output.filter {
      $0.hasPrefix("  the server rejected the write: permission_denied: Permission denied [")
    }
    #expect(denials.count == 3, "\(played)")
    #expect(played.output.suffix(2) == ["  ann: Lovely place", "  ben: So it is"], "\(played)")
  }

  @Test("the requests of the page are answered to a page of any origin")
  func requests() async throws {
    try await withGuestbook { guestbook, _ in
      let preflight = try guestbook.ask(
        "OPTIONS", "/entries.json",
        [
          "Access-Control-Request-Method: POST",
          "Access-Control-Request-Headers: authorization,content-type",
        ])
      #expect(preflight.head.hasPrefix("HTTP/1.1 204"), "\(preflight)")
      #expect(preflight.head.contains("Access-Control-Allow-Origin: null"), "\(preflight)")
      #expect(
        preflight.head.contains("Access-Control-Allow-Headers: authorization,content-type"),
        "\(preflight)")

      let stream = try StreamUnderTest(
        "/entries.json?auth=\(guestbook.token)&orderBy=%22%24key%22&limitToLast=20",
        port: guestbook.port)
      #expect(stream.read(through: "\n\n").contains(#"data: {"path":"/","data":null}"#))
      #expect(await guestbook.type("Hello, ben"))
      #expect(stream.read(through: "\n\n").contains(#""author":"ann","text":"Hello, ben""#))
      let posted = try guestbook.post("ben", "Hello, ann")
      #expect(posted.head.hasPrefix("HTTP/1.1 200"), "\(posted)")
      #expect(posted.head.contains("Access-Control-Allow-Origin: null"), "\(posted)")
      #expect(stream.read(through: "\n\n").contains(#""author":"ben","text":"Hello, ann""#))
      #expect(await guestbook.shows("ben: Hello, ann"))
    }
  }

  @Test("what the rules deny is an answer with a reason, which a page may read")
  func denials() async throws {
    try await withGuestbook { guestbook, _ in
      for (author, text) in [
        ("ann", "not by ann"), ("ben", ""), ("ben", .init(repeating: "x", count: 141)),
      ] {
        let denied = try guestbook.post(author, text)
        #expect(denied.head.hasPrefix("HTTP/1.1 401"), "\(denied)")
        #expect(denied.head.contains("X-Tern-Denial: "), "\(denied)")
        #expect(denied.head.contains("Access-Control-Expose-Headers: ETag, X-Tern-Denial"))
        #expect(denied.body == #"{"error":"Permission denied"}"#, "\(denied)")
      }
      let unsigned = try guestbook.ask("GET", "/entries.json")
      #expect(unsigned.head.hasPrefix("HTTP/1.1 401"), "\(unsigned)")
      #expect(await guestbook.type("still here"))
      let others = guestbook.process.output.history.filter { $0.hasPrefix("ben: ") }
      #expect(others.count == 1, "\(others)")
    }
  }

  @Test("entries and tokens count again after the program was killed and started anew")
  func restart() async throws {
    try await withFolder { folder in
      let first = try await GuestbookUnderTest(in: folder)
      #expect(try first.post("ben", "Hello").head.hasPrefix("HTTP/1.1 200"))
      first.process.killNow()
      _ = await first.process.exitCode(within: patience)
      let second = try await GuestbookUnderTest(in: folder)
      defer { second.process.killNow() }
      #expect(await second.shows("ben: Hello"))
      let read = try second.ask("GET", "/entries.json?auth=\(first.token)")
      #expect(read.body.contains(#""author":"ben","text":"Hello""#), "\(read)")
    }
  }

  @Test(
    "the page shows entries, writes one, and tells denials, in a browser",
    .enabled(if: chromium != nil && FileManager.default.isExecutableFile(atPath: systemPython)))
  func page() async throws {
    try await withGuestbook { guestbook, _ in
      #expect(await guestbook.type("Hello, ben"))
      let script = Self.root.appending(path: "Tests/EndToEnd/Console/guestbook.py").path
      let page = Self.root.appending(path: "Docs/Examples/guestbook.html").path
      let played = await finish(
        try ChildProcess(systemPython, [script, page, guestbook.address, guestbook.token]))
      #expect(played.code == 0, "\(played)")
      #expect(played.output.count { $0.hasPrefix("ok ") } == 6, "\(played)")
    }
  }
}
