import Testing

@testable import TernTransportTCP

@Suite("clients that nodes tell each other of") struct RelayedClientTests {
  @Test(
    "a client is read from the peer of its link",
    arguments: [
      ("127.0.0.1:50412", "127.0.0.1:50412"),
      ("[::1]:5000", "::1:5000"), ("::1:5000", "::1:5000"),
      ("2001:db8::7:65535", "2001:db8::7:65535"),
      ("::ffff:192.0.2.7:9", "192.0.2.7:9"),
      ("remote 192.0.2.7:0", "remote 192.0.2.7:0"),
      ("remote 127.0.0.1:1 for https://example.com:8443", "remote 127.0.0.1:1"),
      ("remote [2001:db8::7]:0", "remote 2001:db8::7:0"),
      ("loopback#3", "127.0.0.1:0"),
    ])
  func peers(peer: String, told: String) throws {
    let client = try #require(RelayedClient(peer: peer))
    #expect(client.peer == told)
    #expect(client.isRemote == peer.hasPrefix("remote"))
    #expect(RelayedClient(peer: client.peer) == client)
  }

  @Test(
    "a peer without an address is no client",
    arguments: [
      "", "unknown", "unknown:0", "/run/tern.sock", "unix:/run/tern.sock", "127.0.0.1",
      "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x", "::1", "remote ", "remote loopback#3",
      "localhost:9", "fe80::1%eth0:9",
    ])
  func none(peer: String) {
    #expect(RelayedClient(peer: peer) == nil)
  }

  @Test(
    "an address has the name that sockets give it",
    arguments: [
      "0.0.0.0", "192.0.2.7", "::", "::1", "1::", "2001:db8::7", "2001:db8:0:1::7",
      "2001:0:0:1::", "2001::1:0:0:7", "2001:db8:0:1:1:1:1:1", "1:2:3:4:5:6:7:8",
    ])
  func names(address: String) throws {
    #expect(ProxyHeader.name(of: try #require(TrustedProxies.bytes(of: address))) == address)
  }

  @Test("an IPv4 address inside IPv6 is written as one")
  func mapped() {
    let bytes = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 7]
    #expect(ProxyHeader.name(of: bytes) == "::ffff:192.0.2.7")
  }

  @Test("a header tells that a client counts as remote", arguments: ["127.0.0.1", "2001:db8::7"])
  func remote(address: String) throws {
    let client = ProxyHeader.Client(address: address, port: 4_321)
    let header = RelayHeader(client: client, time: 1, nonce: 2, isRemote: true)
    let bytes = try #require(header.bytes(to: "db:9000", keyedCode(1)))
    let reading = RelayHeader.read(bytes + [1, 2, 3], at: "db:9000", keyedCode(1))
    #expect(reading == .whole(header, byteCount: bytes.count))
    #expect(ProxyHeader(bytes) == .whole(client, byteCount: bytes.count))
    for count in 0..<bytes.count {
      let part = Array(bytes.prefix(count))
      #expect(RelayHeader.read(part, at: "db:9000", keyedCode(1)) == .undecided)
    }
    for bit in 0..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      let reading = RelayHeader.read(changed, at: "db:9000", keyedCode(1))
      #expect(reading == .forged || reading == .other, "bit \(bit)")
    }
    // The other way, the header is the one that every node reads.
    let shard = RelayHeader(client: client, time: 1, nonce: 2, isOfOtherShard: true)
    let both = RelayHeader(client: client, time: 1, nonce: 2, isRemote: true, isOfOtherShard: true)
    for header in [shard, both] {
      let bytes = try #require(header.bytes(to: "db:9000", keyedCode(1)))
      let reading = RelayHeader.read(bytes, at: "db:9000", keyedCode(1))
      #expect(reading == .whole(header, byteCount: bytes.count))
    }
    var plain = header
    plain.isRemote = false
    let known = try #require(plain.bytes(to: "db:9000", keyedCode(1)))
    #expect(known.count == bytes.count - 1)
    let again = RelayHeader.read(known, at: "db:9000", keyedCode(1))
    #expect(again == .whole(plain, byteCount: known.count))
  }
}
