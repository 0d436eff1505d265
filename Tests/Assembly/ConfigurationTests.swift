import Testing

@testable import TernAssembly

@Suite("configuration") struct ConfigurationTests {
  @Test("the file, then the environment, then flags")
  func layers() throws {
    var configuration = try Configuration(
      json: #"{"storage": {"kind": "lmdb", "path": "a"}, "transport": {"port": 1}}"#)
    #expect(configuration.storage.members["kind"] == "lmdb")
    #expect(configuration.transport.members["host"] == "127.0.0.1")
    try configuration.apply(environment: [
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
    let known = ["storage", "transport", "cache", "documents", "auth", "limits", "ledger"]
    #expect(throws: ConfigurationError.unknownSection("stroage", known: known, origin: "f.json")) {
      var configuration = Configuration()
      try configuration.apply(json: Array(#"{"stroage": {"kind": "lmdb"}}"#.utf8), named: "f.json")
    }
    #expect(
      throws: ConfigurationError.unknownSection(
        "stroage", known: known, origin: "variable TERN_STROAGE_KIND")
    ) {
      _ = try Configuration(file: nil, environment: ["TERN_STROAGE_KIND": "lmdb"])
    }
  }

  @Test(
    "what is not a configuration says where it stops being one",
    arguments: [
      ("{", 1), ("[]", 0), (#"{"storage": {"kind": "lmdb",}}"#, 28),
      (#"{"storage": {"kind": 1, "kind": 2}}"#, 33),
    ])
  func malformed(text: String, offset: Int) {
    let error = #expect(throws: ConfigurationError.self) { _ = try Configuration(json: text) }
    guard case .malformed("configuration", offset, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
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
