import TernClient
import TernCore
import TernStorage
import TernTransport
import Testing

@testable import TernAssembly
@testable import TernServerAssembly

@Suite("sections") struct SectionTests {
  private func check(_ storage: ConfigurationValue) throws(ConfigurationError) {
    try Assembler(catalog: testCatalog()).check(
      Configuration(storage: storage, transport: ["kind": "loopback"]))
  }

  @Test("values of every type are read, typed or written")
  func types() throws {
    try check([
      "kind": "folder", "pageBytes": 4_096, "isStrict": true, "ratio": 0.5,
      "limits": ["rows": 3], "mirrors": ["a", "b"],
    ])
    try check([
      "kind": .text("folder"), "pageBytes": .text("4096"), "isStrict": .text("true"),
      "ratio": .text("0.5"), "durability": .text("relaxed"),
    ])
  }

  @Test("the section of the ledger says how much of the log is kept")
  func ledger() throws {
    let assembler = Assembler(catalog: testCatalog())
    var configuration = Configuration()
    _ = try assembler.ledger(of: configuration)
    configuration.apply(environment: [
      "TERN_LEDGER_LOG_LIMIT": "5", "TERN_LEDGER_LOG_BYTES": "1000", "TERN_LEDGER_LOG_AGE": "60",
    ])
    _ = try assembler.ledger(of: configuration)
    configuration.apply(environment: ["TERN_LEDGER_LOG_LIMIT": "0"])
    #expect(throws: ConfigurationError.self) { try assembler.ledger(of: configuration) }
    configuration.apply(environment: ["TERN_LEDGER_LOG_LINES": "1"])
    #expect(throws: ConfigurationError.self) { try assembler.ledger(of: configuration) }
  }

  @Test("an unknown key names the known ones")
  func unknownKey() {
    #expect(
      throws: ConfigurationError.unknownKey(
        "pageByts", section: "storage",
        known: [
          "kind", "path", "durability", "pageBytes", "isStrict", "ratio", "limits", "mirrors",
        ])
    ) {
      try check(["kind": "folder", "pageByts": 1])
    }
    #expect(
      throws: ConfigurationError.unknownKey("row", section: "storage.limits", known: ["rows"])
    ) {
      try check(["kind": "folder", "limits": ["row": 1]])
    }
  }

  @Test("one word changes the storage: the path may stay")
  func pathStays() throws {
    try check(["kind": "memory", "path": "tern-data"])
    try Assembler(catalog: testCatalog()).check(
      Configuration(
        storage: ["kind": "memory"],
        transport: ["kind": "loopback", "host": "127.0.0.1", "port": 9_090]))
  }

  @Test("an unknown kind names the kinds of this program")
  func unknownKind() {
    #expect(
      throws: ConfigurationError.unknownKind(
        "postgres", section: "storage", known: ["memory", "folder"])
    ) {
      try check(["kind": "postgres"])
    }
    #expect(
      throws: ConfigurationError.missingKind(section: "storage", known: ["memory", "folder"])
    ) {
      try check([:])
    }
  }

  @Test(
    "a value of the wrong type says what it must be",
    arguments: [
      ("pageBytes", "many", "an integer", "a string"),
      (
        "pageBytes", .text("many"), "an integer in -9223372036854775808...9223372036854775807",
        "\"many\""
      ),
      ("isStrict", 1, "true or false", "a number"),
      ("ratio", true, "a number", "a boolean"),
      ("limits", 3, "an object", "a number"),
      ("mirrors", "a", "an array", "a string"),
    ] as [(String, ConfigurationValue, String, String)])
  func wrongType(key: String, value: ConfigurationValue, expected: String, found: String) {
    #expect(
      throws: ConfigurationError.wrongType(
        key: key, section: "storage", expected: expected, found: found)
    ) {
      try check(.object(["kind": "folder", key: value]))
    }
  }

  @Test(
    "D05 caches are limited to 1 MiB or more, or not at all",
    arguments: [("cache", "limitBytes"), ("documents", "cacheLimitBytes")])
  func cacheLimit(section: String, key: String) throws {
    func options(_ bytes: Int64) throws -> ClientOptions {
      var configuration = Configuration(
        storage: ["kind": "memory"], transport: ["kind": "loopback"])
      try configuration.set(.integer(bytes), for: key, in: section, origin: "test")
      return try Assembler(catalog: testCatalog())
        .clientOptions(of: configuration, ClientOptions())
    }
    func limit(_ options: ClientOptions) -> Int? {
      section == "cache" ? options.cacheLimitBytes : options.documentCacheLimitBytes
    }
    for bytes: Int64 in [0, 1, 1_048_575, -2] {
      #expect(throws: ConfigurationError.self) { try options(bytes) }
    }
    #expect(limit(try options(1_048_576)) == 1_048_576)
    #expect(limit(try options(-1)) == nil)
    #expect(limit(ClientOptions()) == (section == "cache" ? 10 : 100) * 1_048_576)
  }

  @Test("the longest body over REST is chosen, up to what the protocol knows")
  func bodyBytes() throws {
    func limit(_ bytes: Int64) throws -> Int? {
      var configuration = Configuration.inProcess
      try configuration.set(.integer(bytes), for: "bodyBytes", in: "limits", origin: "test")
      return try Assembler(catalog: testCatalog()).limitOptions(of: configuration).bodyBytes
    }
    #expect(LimitOptions().bodyBytes == nil)
    #expect(try limit(1 << 28) == 1 << 28)
    for bytes: Int64 in [0, 1 << 28 + 1, -1] {
      #expect(throws: ConfigurationError.self) { try limit(bytes) }
    }
  }

  @Test(
    "a mistake in a section that only servers read keeps a server from opening",
    arguments: ["auth", "limits", "ledger", "endpoints"])
  func serverMistakes(section: String) async throws {
    var configuration = Configuration.inProcess
    try configuration.set("x", for: "colour", in: section, origin: "test")
    let assembler = Assembler(catalog: testCatalog())
    #expect(throws: ConfigurationError.self) { try assembler.checkServer(configuration) }
    await #expect(throws: ServerAssemblyError.self) {
      await (try assembler.server(from: configuration)).stop()
    }
  }

  @Test(
    "a mistake in any other section keeps both ends from opening",
    arguments: ["cache", "documents"])
  func mistakes(section: String) async throws {
    var configuration = Configuration.inProcess
    try configuration.set("x", for: "colour", in: section, origin: "test")
    let assembler = Assembler(catalog: testCatalog())
    #expect(throws: ConfigurationError.self) { try assembler.check(configuration) }
    await #expect(throws: AssemblyError.self) {
      await (try assembler.client(from: configuration)).close()
    }
    await #expect(throws: ServerAssemblyError.self) {
      await (try assembler.server(from: configuration)).stop()
    }
    await #expect(throws: AssemblyError.self) {
      let database = try DocumentDatabase(projectID: "shop")
      await (try assembler.documents(of: database, from: configuration)).close()
    }
  }

  @Test("documents are named and their indexes made as the configuration says")
  func documents() throws {
    var configuration = Configuration(
      storage: ["kind": "memory"], transport: ["kind": "loopback"],
      documents: ["project": "shop", "createsIndexes": false])
    let assembler = Assembler(catalog: testCatalog())
    let options = try assembler.clientOptions(of: configuration, ClientOptions())
    #expect(options.documents == (try DocumentDatabase(projectID: "shop")))
    #expect(!options.createsDocumentIndexes)
    #expect(ClientOptions().createsDocumentIndexes)
    try configuration.set("a/b", for: "project", in: "documents", origin: "test")
    #expect(throws: ConfigurationError.self) { try assembler.check(configuration) }
  }
}
