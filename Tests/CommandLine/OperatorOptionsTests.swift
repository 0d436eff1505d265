import Foundation
import Logging
import TernAssembly
import TernTransportTCP
import Testing

@testable import tern

@Suite("sections for operators") struct OperatorOptionsTests {
  private func options(_ text: String) throws -> OperatorOptions {
    try OperatorOptions(of: Configuration(json: text))
  }

  @Test(
    "what is in its range is read",
    arguments: [
      "{}", #"{"log": {"level": "trace", "format": "text", "access": true, "writes": false}}"#,
      #"{"log": {"level": "critical", "format": "json"}}"#, #"{"admin": {"port": 0}}"#,
      #"{"admin": {"port": 65535, "host": "::1"}}"#, #"{"shutdown": {"grace": 0}}"#,
      #"{"shutdown": {"grace": 3600}}"#, #"{"proxy": {"trusted": []}}"#,
      #"{"proxy": {"trusted": ["10.0.0.0/8", "::1"], "protocol": true}}"#,
      #"{"proxy": {"protocol": false}}"#, #"{"log": {"level": null}, "admin": {"port": null}}"#,
    ])
  func valid(text: String) throws { _ = try options(text) }

  @Test(
    "what is not in its range names its section",
    arguments: [
      (#"{"log": {"level": "loud"}}"#, "log: \"level\": loud is none of trace, debug, info"),
      (#"{"log": {"level": "INFO"}}"#, "log: \"level\": INFO is none of"),
      (#"{"log": {"format": "xml"}}"#, "log: \"format\": xml is neither text nor json"),
      (#"{"log": {"access": "yes"}}"#, "log: \"access\" must be true or false"),
      (#"{"admin": {"port": -1}}"#, "admin: \"port\": -1 is not in 0...65535"),
      (#"{"admin": {"port": 65536}}"#, "admin: \"port\": 65536 is not in 0...65535"),
      (#"{"admin": {"host": "::1"}}"#, "admin: \"host\" needs a \"port\""),
      (#"{"proxy": {"protocol": true}}"#, "proxy: \"protocol\" needs the proxies"),
      (#"{"proxy": {"protocol": true, "trusted": []}}"#, "proxy: \"protocol\" needs the proxies"),
      (#"{"proxy": {"trusted": ["x"]}}"#, "proxy: \"trusted\" is a list of addresses"),
      (#"{"proxy": {"trusted": ["10.0.0.0/33"]}}"#, "proxy: \"trusted\" is a list of addresses"),
      (#"{"proxy": {"trusted": ["::1/129"]}}"#, "proxy: \"trusted\" is a list of addresses"),
      (#"{"shutdown": {"grace": -1}}"#, "shutdown: \"grace\": -1 is not in 0...3600"),
      (#"{"shutdown": {"grace": 3601}}"#, "shutdown: \"grace\": 3601 is not in 0...3600"),
      (#"{"shutdown": {"patience": 1}}"#, "shutdown: unknown key \"patience\"; known keys: grace"),
      (#"{"admin": {"prot": 1}}"#, "admin: unknown key \"prot\"; known keys: host, port"),
    ])
  func invalid(text: String, message: String) {
    let error = #expect(throws: ConfigurationError.self) { try options(text) }
    #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
  }

  @Test("what is left out has its standard")
  func standards() throws {
    let standard = try options("{}")
    #expect(standard.log.loggerLevel == .info && standard.shutdown.duration == .seconds(10))
    #expect(standard.admin.port == nil && standard.proxy.trusted == nil)
    let chosen = try options(
      #"{"log": {"level": "error", "format": "text"}, "shutdown": {"grace": 3}}"#)
    #expect(chosen.log.loggerLevel == .error && chosen.log.lineFormat == .text)
    #expect(chosen.shutdown.duration == .seconds(3))
  }
}

@Suite("servers by name") struct ServerContextsTests {
  private func places(_ text: String) throws -> [(name: String, place: ServerContexts.Place)] {
    try ServerContexts.places(Array(text.utf8), in: "f.json")
  }

  @Test("a context has what it names, and the others are left out")
  func read() throws {
    let found = try places(
      #"""
      {"b": {"server": "db:1", "token": "t", "tls": true, "ca": "c", "database": "d"}, "a": {}}
      """#)
    #expect(found.map(\.name) == ["b", "a"])
    #expect(
      found[0].place
        == ServerContexts.Place(server: "db:1", token: "t", tls: true, ca: "c", database: "d"))
    #expect(found[1].place == ServerContexts.Place())
    #expect(try places("{}").isEmpty)
  }

  @Test(
    "what is no context names its place",
    arguments: [
      ("", "f.json: byte 0"), ("[]", "f.json must be an object of contexts"),
      (#"{"a": 1}"#, "f.json: \"a\" must be an object"),
      (#"{"a": {"sever": "x"}}"#, "f.json: \"a\": \"sever\" is no key of a context"),
      (#"{"a": {"server": 1}}"#, "f.json: \"a\": \"server\" is no key of a context, or of another"),
      (
        #"{"a": {"tls": "yes"}}"#,
        "\"tls\" is no key of a context, or of another type; the keys are"
      ),
      (#"{"a": {"token": null}}"#, "\"token\" is no key"),
    ])
  func mistakes(text: String, message: String) {
    let failure = failure { try places(text) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
  }
}

@Suite("the server that operators ask") struct AdminFlagsTests {
  private func client(_ words: [String]) throws -> AdminClient {
    try parsed(AdminFlags.self, words).get().client()
  }

  @Test(
    "an address that asks for TLS gets it, whatever its spelling",
    arguments: [
      ("db:1", false, ["db:1"]), ("http://db:1", false, ["db:1"]),
      ("https://db:1", true, ["db:1"]), ("HTTPS://db:1/x", true, ["db:1"]),
      (" https://db:1", true, ["db:1"]), ("a:1,https://b:2", true, ["a:1", "b:2"]),
      ("wss://db:1", true, ["db:1"]), ("ws://db:1", false, ["db:1"]),
      ("https://a:1,https://b", true, ["a:1", "b:443"]),
      ("https://db.example.com", true, ["db.example.com:443"]), ("http://db/", false, ["db:80"]),
      ("https://[::1]", true, ["[::1]:443"]), ("db", false, ["db:9000"]),
      ("[::1]:5", false, ["[::1]:5"]),
    ])
  func addresses(server: String, isSecured: Bool, places: [String]) throws {
    let options = try client(["--server", server]).options
    #expect((options.tls != nil) == isSecured)
    #expect(options.addresses.map(\.description) == places)
  }

  @Test("flags ask for TLS, too, and name its roots")
  func tls() throws {
    #expect(try client(["--server", "db", "--tls"]).options.tls?.roots == nil)
    #expect(try client(["--server", "db", "--tls"]).options.tls != nil)
    #expect(try client(["--server", "db", "--ca", "r.pem"]).options.tls?.roots == "r.pem")
    #expect(try client(["--server", "db"]).options.tls == nil)
  }

  @Test("only a server of this machine takes its owner", arguments: ["::1", "db.example.com"])
  func owners(host: String) throws {
    #expect(try client(["--server", host]).isLocal == (host == "::1"))
    #expect(try !client(["--server", "127.0.0.1:1,db:1"]).isLocal)
    #expect(try client(["--server", "127.0.0.1:1,localhost:2"]).isLocal)
  }

  @Test("a token is what its file holds, without space around it")
  func tokens() throws {
    let path = NSTemporaryDirectory() + "tern-token-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    for (content, token) in [(" a.b.c\n", "a.b.c"), ("x", "x"), (" \n", nil), ("", nil)] {
      try Data(content.utf8).write(to: URL(filePath: path))
      guard let token else {
        let failure = failure { try client(["--server", "db", "--token", path]) }
        #expect(failure?.message == "\(path) is empty; it should hold a token")
        continue
      }
      #expect(try client(["--server", "db", "--token", path]).token == token)
    }
    #expect(failure { try client(["--token", path + "/no"]) }?.code == .failed)
  }

  @Test("a wait is at least a second", arguments: ["0", "0s", "1", "1h", "x"])
  func timeouts(text: String) throws {
    let result = parsed(AdminFlags.self, ["--server", "db", "--timeout", text])
    let isFine = text == "1" || text == "1h"
    #expect(((try? result.get()) != nil) == isFine, "\(result)")
    if text == "1h" { #expect(try result.get().client().options.connectTimeoutSeconds == 3_600) }
  }
}
