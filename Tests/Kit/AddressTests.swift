import Testing

@testable import TernKit

@Suite("Server addresses")
struct AddressTests {
  @Test(
    "a host stands alone or with a port",
    arguments: [
      ("db.example.com", "db.example.com", 9_000), ("db.example.com:443", "db.example.com", 443),
      ("127.0.0.1", "127.0.0.1", 9_000), ("[::1]", "::1", 9_000), ("[::1]:9001", "::1", 9_001),
      ("fe80::1", "fe80::1", 9_000),
    ])
  func forms(text: String, host: String, port: Int) throws {
    #expect(try ServerAddress(text) == ServerAddress(host: host, port: port))
  }

  @Test(
    "a WebSocket is named by its scheme, and has the ports of HTTP",
    arguments: [
      ("ws://db", ServerAddress(host: "db", port: 80, scheme: .webSocket)),
      ("wss://db", ServerAddress(host: "db", port: 443, scheme: .secureWebSocket)),
      ("wss://[::1]:9000", ServerAddress(host: "::1", port: 9_000, scheme: .secureWebSocket)),
      ("ws://db/", ServerAddress(host: "db", port: 80, scheme: .webSocket)),
      ("wss://db/t", ServerAddress(host: "db", port: 443, scheme: .secureWebSocket, path: "/t")),
    ])
  func webSockets(text: String, address: ServerAddress) throws {
    #expect(try ServerAddress(text) == address)
  }

  @Test(
    "a text that is no address is an error that says what to write",
    arguments: [
      ("http://127.0.0.1:9000", "its scheme is ws or wss, or none; write \"127.0.0.1:9000\""),
      ("https://db.example.com/x", "its scheme is ws or wss, or none; write \"db.example.com\""),
      ("db.example.com/x", "it takes no path; write \"db.example.com\""),
      ("db:port", "the port is a number in 1...65535, not \"port\""),
      ("db:+80", "the port is a number in 1...65535, not \"+80\""),
      ("db:0", "the port is a number in 1...65535, not \"0\""),
      ("db:70000", "the port is a number in 1...65535, not \"70000\""),
      ("", "it names no host"), (":9000", "it names no host"), ("a b", "a space is in it"),
      ("[::1", "the bracket is not closed"), ("[::1]x", "only a port follows the bracket"),
    ])
  func mistakes(text: String, reason: String) {
    #expect { try ServerAddress(text) } throws: { error in
      "\(error)" == "\"\(text)\" is no address of a server: \(reason)"
    }
  }
}
