import Foundation
import TernTransport
import Testing

@testable import TernTransportTCP

@Suite("lists of TCP addresses", .timeLimit(.minutes(2))) struct TCPAddressListTests {
  private func options(_ json: String) throws -> TCPOptions {
    try JSONDecoder().decode(TCPOptions.self, from: Data(json.utf8))
  }

  @Test("a host may be several with commas between, each with a port of its own")
  func lists() throws {
    let options = try options(#"{"host": "a.example, b.example:9001,[::1]:5,::2", "port": 7}"#)
    #expect(
      options.addresses == [
        TCPAddress(host: "a.example", port: 7), TCPAddress(host: "b.example", port: 9_001),
        TCPAddress(host: "::1", port: 5), TCPAddress(host: "::2", port: 7),
      ])
    #expect(options.host == "a.example" && options.port == 7 && options.alternatives.count == 3)
    #expect(options.addresses.map(\.description).last == "[::2]:7")
    #expect(try TCPAddress.list("db", defaultPort: 1) == [TCPAddress(host: "db", port: 1)])
  }

  @Test(
    "a list with a mistake is refused with the address that is none",
    arguments: [
      ("a,b:x", #""b:x" is no address: the port is a number in 0...65535, not "x""#),
      ("a,b:70000", #""b:70000" is no address: the port is a number in 0...65535, not "70000""#),
      ("a,b:+80", #""b:+80" is no address: the port is a number in 0...65535, not "+80""#),
      ("a,b:-0", #""b:-0" is no address: the port is a number in 0...65535, not "-0""#),
      ("a,:1", #"":1" is no address: it names no host"#),
      ("a,[::1", #""[::1" is no address: the bracket is not closed"#),
      ("a,[::1]x", #""[::1]x" is no address: only a port follows the bracket"#),
      ("a,,b", "an address in it is empty"), ("a,", "an address in it is empty"),
    ])
  func mistakes(text: String, reason: String) {
    #expect(throws: TransportError.invalidOption(name: "host", reason: reason)) {
      try options(#"{"host": "\#(text)"}"#)
    }
  }

  @Test("addresses that are too many or the same are refused")
  func limits() throws {
    var options = TCPOptions(host: "a", port: 1)
    options.alternatives = (2...16).map { TCPAddress(host: "a", port: $0) }
    try options.validate()
    options.alternatives.append(TCPAddress(host: "a", port: 17))
    let many = TransportError.invalidOption(
      name: "host", reason: "at most 16 addresses, not 17")
    #expect(throws: many) { try options.validate() }
    options.alternatives = [TCPAddress(host: "b", port: 1), TCPAddress(host: "a", port: 1)]
    let twice = TransportError.invalidOption(name: "host", reason: "a:1 is named twice")
    #expect(throws: twice) { try options.validate() }
    options.alternatives = [TCPAddress(host: "b", port: 70_000)]
    #expect(throws: TransportError.self) { try options.validate() }
  }

  #if TCP
    @Test("a link is opened to the address that is asked for, and to no other")
    func numbers() async throws {
      let server = try TCPTransport(TCPOptions(port: 0))
      let listener = try await server.listen { _ in Silence() }
      let port = Int(listener.address.split(separator: ":").last ?? "") ?? 0
      var options = TCPOptions(port: 1)
      options.alternatives = [TCPAddress(host: "127.0.0.1", port: port)]
      let client = try TCPTransport(options)
      #expect(client.addressCount == 2)
      await #expect(throws: TransportError.refused(host: "127.0.0.1", port: 1)) {
        try await client.connect(to: 0) { _ in Silence() }
      }
      await #expect(throws: TransportError.refused(host: "127.0.0.1", port: 1)) {
        try await client.connect { _ in Silence() }
      }
      let link = try await client.connect(to: 1) { _ in Silence() }
      #expect(link.peer == "127.0.0.1:\(port)")
      await #expect(
        throws: TransportError.invalidOption(
          name: "host", reason: "a server listens at one address, not at 2")
      ) {
        try await client.listen { _ in Silence() }
      }
      await client.shutdown()
      await server.shutdown()
    }

    #if TLS
      @Test("over TLS the server proves the name of the address that is connected to")
      func identities() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/tern-tls-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let certificate = try ThrowawayCertificate(hasAddress: false, in: folder)
        var options = TCPOptions(port: 0)
        options.tls = certificate.server
        let server = try TCPTransport(options)
        let listener = try await server.listen { _ in Silence() }
        let port = Int(listener.address.split(separator: ":").last ?? "") ?? 0
        options = TCPOptions(port: port)
        options.alternatives = [TCPAddress(host: "localhost", port: port)]
        options.tls = certificate.client
        let client = try TCPTransport(options)
        let error = await #expect(throws: TransportError.self) {
          try await client.connect(to: 0) { _ in Silence() }
        }
        guard case .notSecure("127.0.0.1", port, _)? = error else {
          Issue.record("the certificate is not for the address: \(error as Any)")
          return
        }
        try await client.connect(to: 1) { _ in Silence() }
        await client.shutdown()
        await server.shutdown()
      }
    #endif

    private final class Silence: LinkHandler {
      func linkDidReceive(_ frames: [[UInt8]]) {}
      func linkDidClose(_ reason: LinkClosure) {}
    }
  #endif
}
