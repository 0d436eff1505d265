import TernAssembly
import Testing

@testable import TernFirebaseCompat

@Suite("addresses of databases") struct AddressTests {
  @Test(
    "an address names a server, a database and a path",
    arguments: [
      ("http://localhost:9000?ns=demo", false, "localhost", 9_000, "demo", ""),
      ("http://127.0.0.1:9000/a/b?ns=demo", false, "127.0.0.1", 9_000, "demo", "a/b"),
      (
        "https://demo-default-rtdb.firebaseio.com", true, "demo-default-rtdb.firebaseio.com", 443,
        "demo-default-rtdb", ""
      ),
      (
        "https://d.europe-west1.firebasedatabase.app/x/", true,
        "d.europe-west1.firebasedatabase.app", 443, "d", "x"
      ),
      ("HTTP://DB.Example.COM", false, "db.example.com", 80, "db", ""),
      ("https://example.com", true, "example.com", 443, nil, ""),
      ("http://10.0.0.1", false, "10.0.0.1", 80, nil, ""),
      ("http://[::1]:9000/?ns=d", false, "::1", 9_000, "d", ""),
      ("http://[::1]:9000", false, "::1", 9_000, nil, ""),
      ("http://demo.localhost:9000", false, "demo.localhost", 9_000, "demo", ""),
      ("ws://db:1/.ws?ns=d", false, "db", 1, "d", ".ws"), ("wss://db", true, "db", 443, nil, ""),
      ("http://a.b.c?ns=", false, "a.b.c", 80, "a", ""),
      ("http://h//a//b%20c", false, "h", 80, nil, "a/b c"),
      ("http://h?x=1&ns=d&ns=e", false, "h", 80, "d", ""),
    ] as [(String, Bool, String, Int, String?, String)])
  func addresses(
    text: String, isEncrypted: Bool, host: String, port: Int, namespace: String?, path: String
  ) throws {
    let address = try #require(DatabaseAddress(text))
    #expect(address.isEncrypted == isEncrypted && address.host == host && address.port == port)
    #expect(address.namespace == namespace && address.path == path)
  }

  @Test(
    "what names no server is no address",
    arguments: ["", "localhost:9000", "ftp://h", "http://", "http:///a", "//h/a", "h", "a b"])
  func noAddresses(text: String) { #expect(DatabaseAddress(text) == nil) }

  @Test("Google's own servers are known by their names")
  func googles() {
    for (text, isGoogles) in [
      ("https://a.firebaseio.com", true), ("https://a.b.firebasedatabase.app", true),
      ("https://firebaseio.com", false), ("https://a.firebaseio.com.example.org", false),
      ("https://afirebaseio.com", false), ("http://localhost", false),
    ] {
      #expect(DatabaseAddress(text)?.isGoogles == isGoogles, "\(text)")
    }
  }

  @Test("the server of an application stands for Google's, and for itself")
  func sameServer() throws {
    let configuration = Configuration(
      storage: ["kind": "memory"], transport: ["kind": "tcp", "host": "db", "port": 5])
    let choice = ServerChoice(configuration: configuration)
    #expect(choice.address == "http://db:5")
    for text in ["https://x.firebaseio.com", "http://db:5?ns=x", "http://DB:5/?ns=x"] {
      let reached = choice.reaching(try #require(DatabaseAddress(text)), isOther: true)
      #expect(reached.configuration == configuration && reached.namespace == "x", "\(text)")
    }
  }

  @Test("another server has its own transport, and its own folder beside the first one's")
  func otherServer() throws {
    let configuration = Configuration(
      storage: ["kind": "sqlite", "path": "data"],
      transport: ["kind": "tcp", "host": "db", "port": 5, "tls": ["roots": "r.pem"]])
    let choice = ServerChoice(configuration: configuration)
    #expect(choice.address == "https://db:5")
    let plain = try #require(DatabaseAddress("http://[::1]:7?ns=x"))
    let reached = choice.reaching(plain, isOther: true).configuration
    #expect(reached.transport == ["kind": "tcp", "host": "::1", "port": 7])
    #expect(reached.storage == ["kind": "sqlite", "path": "data/servers/--1_7"])
    #expect(choice.reaching(plain, isOther: false).configuration.storage == configuration.storage)
    // The certificates that are trusted are those of the configuration.
    let secured = try #require(DatabaseAddress("https://other"))
    #expect(
      choice.reaching(secured, isOther: true).configuration.transport == [
        "kind": "tcp", "host": "other", "port": 443, "tls": ["roots": "r.pem"],
      ])
    #expect(choice.reaching(secured, isOther: true).namespace != "x")
  }

  @Test(
    "the address of a configuration is that of its first server",
    arguments: [
      (["kind": "tcp", "host": "a", "port": 1], "http://a:1"),
      (["kind": "tcp", "host": "a:7,b:8", "port": 1], "http://a:7"),
      (["kind": "tcp", "host": "::1", "port": 1], "http://[::1]:1"),
      (["kind": "tcp", "host": "a", "port": 1, "tls": [:]], "https://a:1"),
      (["kind": "loopback"], "http://localhost"),
    ] as [(ConfigurationValue, String)])
  func configured(transport: ConfigurationValue, address: String) {
    let configuration = Configuration(storage: ["kind": "memory"], transport: transport)
    #expect(ServerChoice(configuration: configuration).address == address)
  }
}
