import Foundation
import TernAssembly
import TernCore
import Testing

@testable import tern

@Suite("words of a command line") struct ArgumentTests {
  @Test(
    "a word that is no command is reported with the one that is meant",
    arguments: [
      (["sett", "x", "1", "--server", "h"], "no command 'sett'; did you mean set?"),
      (["gte", "a"], "no command 'gte'; did you mean get?"),
      (["server"], "no command 'server'; did you mean serve?"),
      (["docs", "get", "c/d"], "no command 'docs'; did you mean doc?"),
      (["doc", "gett"], "no command 'doc gett'; did you mean doc get?"),
      (["rules", "chk"], "no command 'rules chk'; did you mean rules check?"),
      (["help", "nonsuch"], "no command 'nonsuch'; tern has serve, "),
      (["help", "doc", "fly"], "no command 'doc fly'; tern doc has get, "),
    ])
  func verbs(words: [String], message: String) {
    let failure = #expect(throws: Failure.self) { try VerbCheck.check(words) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.hasPrefix(message) == true, "\(String(describing: failure))")
  }

  @Test(
    "words that are commands pass, and so does all that is not in their place",
    arguments: [
      ["get", "sett"], ["doc", "get", "gte"], ["help"], ["help", "doc", "get"], [], ["--help"],
      ["pending"], ["pending", "list"], ["status"], ["pending", "--cache", "c"],
    ])
  func knownVerbs(words: [String]) throws { try VerbCheck.check(words) }

  @Test(
    "times and sizes have units",
    arguments: [
      ("30", 30), ("30s", 30), ("5m", 300), ("12h", 43_200), ("30d", 2_592_000), ("2W", 1_209_600),
      ("", nil), ("d", nil), ("1.5h", nil), ("-1", nil), ("1x", nil), ("9999999999999999999d", nil),
    ] as [(String, Int64?)])
  func times(text: String, seconds: Int64?) {
    #expect(TimeArgument(argument: text)?.seconds == seconds)
  }

  @Test(
    "sizes count in thousands, or with i in 1,024",
    arguments: [
      ("64", 64), ("64B", 64), ("64k", 64_000), ("64MB", 64_000_000), ("64MiB", 67_108_864),
      ("1g", 1_000_000_000), ("2TiB", 2_199_023_255_552), ("64 MB", nil), ("MB", nil), ("1eb", nil),
    ] as [(String, Int?)])
  func sizes(text: String, bytes: Int?) {
    #expect(SizeArgument(argument: text)?.bytes == bytes)
  }

  @Test(
    "a server is a host, perhaps with a port",
    arguments: [
      ("127.0.0.1", "127.0.0.1", 9_000), ("db.example.com:77", "db.example.com", 77),
      ("::1", "::1", 9_000), ("[::1]", "::1", 9_000), ("[fe80::1]:9001", "fe80::1", 9_001),
    ])
  func addresses(text: String, host: String, port: Int) throws {
    let address = try ServerAddress(text, from: "--server")
    #expect(address.host == host && address.port == port)
  }

  @Test("a URL of a WebSocket is an address too")
  func webSockets() throws {
    let plain = try ServerAddress("ws://127.0.0.1:9301/", from: "--server")
    #expect(plain.isWebSocket && !plain.isSecured && plain.port == 9_301 && plain.path == nil)
    let secured = try ServerAddress("wss://db.example.com/tern", from: "--server")
    #expect(secured.isSecured && secured.port == 443 && secured.path == "/tern")
  }

  @Test("several addresses have commas between them, and one scheme and path")
  func addressLists() throws {
    let list = try ServerAddressList("wss://a, wss://[::1]:9000", from: "--server")
    #expect(list.isSecured)
    #expect(
      list.flags.map { "\($0.section).\($0.key)=\($0.text)" } == [
        "transport.host=a:443,[::1]:9000", "transport.port=443", "transport.kind=websocket",
      ])
    let single = try ServerAddressList("::1", from: "--server")
    #expect(single.flags.map(\.text) == ["::1", "9000"])
    for text in ["a,", "a,:1", "a,ws://a", "ws://a,wss://a", "ws://a/x,ws://b/y"] {
      let failure = #expect(throws: Failure.self) {
        try ServerAddressList(text, from: "--server")
      }
      #expect(failure?.code == .usage, "\(text)")
    }
  }

  @Test(
    "what is no address says what one is",
    arguments: [
      ("", "is no address"), ("host:", "is no address"), ("host:0", "is no address"),
      (":9000", "is no address"), ("[::1", "is no address"), ("[::1]:", "is no address"),
      ("host:http", "is no address"),
      ("http://127.0.0.1:9301/x", "give 127.0.0.1:9301, or ws://127.0.0.1:9301 "),
      ("https://db.example.com", "wss://db.example.com to pass an HTTP proxy"),
    ])
  func badAddresses(text: String, words: String) {
    let failure = #expect(throws: Failure.self) { try ServerAddress(text, from: "--server") }
    #expect(failure?.code == .usage && failure?.message.contains(words) == true, "\(text)")
  }

  @Test("variables that set nothing are reported once, and the others count")
  func environment() throws {
    var warnings: [String] = []
    let configuration = try Configuration.reading(
      file: nil,
      environment: [
        "TERN_STORAGE_KIND": "lmdb", "TERN_STORAGE_PORT": "tcp://x", "TERN_PORT": "tcp://y",
        "TERN_SERVER": "h", "TERN_TOKEN": "t", "TERN_DATABASE": "d", "HOME": "/",
      ], warn: { warnings.append($0) })
    #expect(configuration.storage == ["kind": .text("lmdb"), "path": "tern-data"])
    #expect(
      warnings == [
        "tern: warning: TERN_PORT, TERN_STORAGE_PORT: no such setting; ignored, see: tern config"
      ])
    _ = try Configuration.reading(file: nil, environment: [:], warn: { warnings.append($0) })
    #expect(warnings.count == 1)
  }

  @Test("a shell takes JSON with the quotes of a command line and without")
  func quotes() throws {
    for line in [#"set a "x y""#, #"set a '"x y"'"#, #"set  a  '"x y"' "#] {
      #expect(
        try ShellCommand(line.replacing("  ", with: " ")) == .set("a", TreeNode(.string("x y"))))
    }
    let hint = #expect(throws: Failure.self) { try ShellCommand("set a/c 'hello world'") }
    #expect(hint?.message.contains(#"a text needs quotes: '"hello world"'"#) == true)
    let typo = #expect(throws: Failure.self) { try ShellCommand("gte a") }
    #expect(typo?.message == "no command 'gte'; did you mean get?")
    #expect(try ShellCommand("help") == .help)
  }
}

@Suite("files of an export") struct ExportFileTests {
  private func folder() throws -> String {
    let folder = URL.temporaryDirectory.appending(path: "tern-export-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test("links are followed, and files keep their mode")
  func links() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (real, link, dangling) = (folder + "/real", folder + "/link", folder + "/dangling")
    _ = FileManager.default.createFile(
      atPath: real, contents: Data("old".utf8), attributes: [.posixPermissions: 0o600])
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real")
    try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: "new")
    for path in [link, dangling] {
      let file = try ExportFile(path)
      try file.write("new")
      if path == link { #expect(try String(contentsOfFile: real, encoding: .utf8) == "old") }
      try file.finish()
      #expect(file.isFile)
    }
    #expect(try String(contentsOfFile: real, encoding: .utf8) == "new")
    #expect(try mode(real) == 0o600)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
        "dangling", "link", "new", "real",
      ])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real")
  }

  @Test("a file that is given up leaves nothing")
  func abandoned() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = try ExportFile(folder + "/x")
    try file.write("half")
    file.abandon()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    let failure = #expect(throws: Failure.self) { _ = try ExportFile(folder + "/no/x") }
    #expect(failure?.message.hasSuffix("No such file or directory") == true)
  }

  @Test("an open file is written where it stands, and stays open to its caller")
  func descriptor() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/all"
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let caller = try #require(FileHandle(forWritingAtPath: path))
    try caller.write(contentsOf: Data("before ".utf8))
    let copy = dup(caller.fileDescriptor)
    let file = try ExportFile("/dev/fd/\(copy)")
    #expect(!file.isFile)
    try file.write("inside ")
    try file.finish()
    try caller.write(contentsOf: Data("behind".utf8))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "before inside behind")
  }

  @Test("a device is written in place")
  func device() throws {
    let file = try ExportFile("/dev/full")
    #expect(!file.isFile)
    let failure = #expect(throws: Failure.self) { try file.write("x") }
    #expect(failure?.message == "cannot write /dev/full: No space left on device")
    file.abandon()
    let type = try FileManager.default.attributesOfItem(atPath: "/dev/full")[.type]
    #expect(type as? FileAttributeType == .typeCharacterSpecial)
  }
}
