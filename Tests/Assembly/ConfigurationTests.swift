import TernCore
import Testing

@testable import TernAssembly

@Suite("configuration") struct ConfigurationTests {
  @Test("the file, then the environment, then flags")
  func layers() throws {
    var configuration = try Configuration(
      json: #"{"storage": {"kind": "lmdb", "path": "a"}, "transport": {"port": 1}}"#)
    #expect(configuration.storage.members["kind"] == "lmdb")
    #expect(configuration.transport.members["host"] == "127.0.0.1")
    configuration.apply(environment: [
      "TERN_STORAGE_PATH": "b", "TERN_CACHE_LIMIT_BYTES": "512", "HOME": "/root",
    ])
    #expect(configuration.storage.members["path"] == .text("b"))
    #expect(configuration.cache.members["limitBytes"] == .text("512"))
    #expect(configuration.storage.members["kind"] == "lmdb")

    let flagged = try Configuration(
      file: nil, environment: ["TERN_STORAGE_KIND": "lmdb"],
      flags: [("storage", "kind", "memory"), ("transport", "port", "0")])
    #expect(flagged.storage.members["kind"]?.stringValue == "memory")
    #expect(flagged.transport.members["port"] == .text("0"))
  }

  @Test("an unknown section names its source and the known ones")
  func unknownSection() {
    let known = [
      "storage", "transport", "cache", "documents", "auth", "limits", "ledger", "endpoints",
      "log", "admin", "proxy", "shutdown",
    ]
    #expect(throws: ConfigurationError.unknownSection("stroage", known: known, origin: "f.json")) {
      var configuration = Configuration()
      try configuration.apply(json: Array(#"{"stroage": {"kind": "lmdb"}}"#.utf8), named: "f.json")
    }
  }

  @Test("a variable that names no section changes nothing, and is reported")
  func unknownVariables() throws {
    var configuration = Configuration()
    let unknown = configuration.apply(environment: [
      "TERN_STROAGE_KIND": "lmdb", "TERN_PORT": "tcp://10.0.0.1:9000", "TERN_STORAGE": "x",
      "TERN_SERVICE_HOST": "10.0.0.1", "TERN_": "", "TERNARY": "1", "TERN_STORAGE_KIND": "memory",
    ])
    #expect(
      unknown == ["TERN_", "TERN_PORT", "TERN_SERVICE_HOST", "TERN_STORAGE", "TERN_STROAGE_KIND"])
    #expect(
      configuration == Configuration(storage: ["kind": .text("memory"), "path": "tern-data"]))
    _ = try Configuration(file: nil, environment: ["TERN_PORT": "tcp://10.0.0.1:9000"])
  }

  @Test(
    "what is not a configuration says where it stops being one",
    arguments: [
      ("{", 2), ("[]", 1), (#"{"storage": {"kind": "lmdb",,}}"#, 29),
      (#"{"storage": {"kind": 1, "kind": 2}}"#, 25),
    ])
  func malformed(text: String, column: Int) {
    let error = #expect(throws: ConfigurationError.self) { _ = try Configuration(json: text) }
    guard case .malformed("configuration", let position, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(position.line == 1 && position.column == column)
  }

  @Test("a file may have comments, and a comma behind its last member")
  func edited() throws {
    let text = "// where it lies\n{\"storage\": {\"kind\": \"lmdb\", /* here */ \"path\": \"a\",},}"
    #expect(try Configuration(json: text).storage == ["kind": "lmdb", "path": "a"])
  }

  @Test("a file that is not there")
  func missingFile() {
    #expect(
      throws: ConfigurationError.unreadable(
        file: "/nowhere/tern.json", reason: "there is no such file")
    ) {
      _ = try Configuration(file: "/nowhere/tern.json")
    }
  }
}
