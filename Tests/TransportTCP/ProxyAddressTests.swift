import Testing

@testable import TernTransportTCP

@Suite("Addresses that proxies tell, and proxies that are believed")
struct ProxyAddressTests {
  @Test(
    "bytes of addresses",
    arguments: [
      ("0.0.0.0", [0, 0, 0, 0]), ("255.255.255.255", [255, 255, 255, 255]),
      ("010.0.0.7", [10, 0, 0, 7]),
      ("[127.0.0.1]", [127, 0, 0, 1]), ("::", [UInt8](repeating: 0, count: 16)),
      ("::1", [UInt8](repeating: 0, count: 15) + [1]),
      ("1::", [0, 1] + [UInt8](repeating: 0, count: 14)),
      ("::ffff:1.2.3.4", [1, 2, 3, 4]), ("::FFFF:102:304", [1, 2, 3, 4]),
      ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
      ("1:2:3:4:5:6:1.2.3.4", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 1, 2, 3, 4]),
      ("1:2::7:8", [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 8]),
      ("::2:3:4:5:6:7:8", [0, 0, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
    ] as [(String, [UInt8])])
  func bytes(text: String, expected: [UInt8]) {
    #expect(TrustedProxies.bytes(of: text) == expected)
    // A name that was made of bytes stands for them again.
    let name = ProxyHeader.name(of: expected)
    #expect(TrustedProxies.bytes(of: name) == expected, "\(name)")
  }

  @Test(
    "texts that are no addresses",
    arguments: [
      "", "1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.4 ", "a.b.c.d", "1.2.3.-4", "+1.2.3.4",
      "0x1.2.3.4",
      "1..2.3", "0001.2.3.4", ":", ":::", "1:::2", "1::2::3", "12345::", "g::", "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:1.2.3.4",
      "1.2.3.4::",
      "::1.2.3.4:5", "::+1", "-1::", "::1%eth0", "[::1", "::1]x", "1:2:3:4:5:6:7:",
    ])
  func malformed(text: String) {
    #expect(TrustedProxies.bytes(of: text) == nil)
    #expect(TrustedProxies([text]) == nil)
  }

  @Test(
    "a network holds the addresses that begin like it",
    arguments: [
      ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.0", false),
      ("10.1.2.3/8", "10.9.9.9", true), ("192.168.4.0/23", "192.168.5.255", true),
      ("192.168.4.0/23", "192.168.6.0", false), ("1.2.3.4/32", "1.2.3.4", true),
      ("1.2.3.4/32", "1.2.3.5", false), ("1.2.3.4/31", "1.2.3.5", true),
      ("0.0.0.0/0", "9.9.9.9", true),
      ("0.0.0.0/0", "::1", false), ("::/0", "fe80::1", true), ("::/0", "1.2.3.4", false),
      ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("fd00::/9", "fd80::", false),
      ("1.2.3.4", "::ffff:1.2.3.4", true), ("::ffff:1.2.3.4", "1.2.3.4", true),
      ("::ffff:10.0.0.0/104", "10.9.9.9", true), ("::ffff:10.0.0.0/104", "11.0.0.0", false),
      ("::ffff:0:0/96", "9.9.9.9", true), ("::ffff:0:0/96", "::1", false),
      ("::1", "0:0:0:0:0:0:0:1", true), ("::1", "nonsense", false),
    ])
  func networks(network: String, address: String, isInside: Bool) throws {
    let proxies = try #require(TrustedProxies([network]))
    #expect(proxies.contains(address) == isInside)
    #expect(!proxies.isEmpty)
    let among = try #require(TrustedProxies(["203.0.113.9", network]))
    #expect(among.contains(address) == isInside && among.contains("203.0.113.9"))
  }

  @Test(
    "lengths of networks at their borders",
    arguments: [
      ("1.2.3.4/0", true), ("1.2.3.4/32", true), ("1.2.3.4/33", false), ("1.2.3.4/-1", false),
      ("1.2.3.4/", false), ("1.2.3.4/+8", false), ("1.2.3.4/8/8", false), ("/8", false),
      ("::/128", true),
      ("::/129", false), ("::/x", false), ("::ffff:1.2.3.4/33", false),
      ("::ffff:10.0.0.0/24", false),
      ("::ffff:10.0.0.0/95", false), ("::ffff:10.0.0.0/128", true),
      ("::ffff:10.0.0.0/129", false),
    ])
  func lengths(text: String, isAllowed: Bool) {
    #expect((TrustedProxies([text]) != nil) == isAllowed)
  }

  @Test(
    "entries of X-Forwarded-For",
    arguments: [
      ("1.2.3.4", "1.2.3.4"), ("1.2.3.4:80", "1.2.3.4"), ("::1", "::1"), ("[::1]", "::1"),
      ("[::1]:80", "::1"), ("2001:db8::7:80", "2001:db8::7:80"), ("unknown", nil), ("", nil),
      ("_x", nil),
      ("1.2.3.4:80:80", nil), ("[::1", nil), (":80", nil),
    ] as [(String, String?)])
  func entries(entry: String, address: String?) {
    #expect(TrustedProxies.address(in: entry) == address)
  }

  @Test(
    "loopback addresses",
    arguments: [
      ("127.0.0.1", true), ("127.255.0.9", true), ("128.0.0.1", false), ("::1", true),
      ("::2", false), ("::", false),
      ("::ffff:127.0.0.1", true), ("1::1", false), ("localhost", false),
    ])
  func loopback(address: String, isLoopback: Bool) {
    #expect(TrustedProxies.isLoopback(address) == isLoopback)
  }
}

@Suite("Headers of proxies, byte by byte")
struct ProxyHeaderTests {
  private typealias Client = ProxyHeader.Client

  static let texts: [(String, String?, Int)] = [
    ("PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n", "192.0.2.1", 56_324),
    ("PROXY TCP6 2001:db8::1 ::1 1 65535\r\n", "2001:db8::1", 1),
    ("PROXY TCP6 2001:0db8:0:0:0:0:0:1 ::1 0 0\r\n", "2001:db8::1", 0),
    ("PROXY UNKNOWN\r\n", nil, 0), ("PROXY UNKNOWN ffff:f...f whatever 1 2\r\n", nil, 0),
  ]

  @Test("a header of text is read with whatever follows, and never too early", arguments: texts)
  func text(line: String, address: String?, port: Int) {
    let client = address.map { Client(address: $0, port: port) }
    let bytes = Array(line.utf8)
    let whole = ProxyHeader.whole(client, byteCount: bytes.count)
    #expect(ProxyHeader(bytes) == whole)
    #expect(ProxyHeader(bytes + Array("GET / HTTP/1.1\r\n".utf8)) == whole)
    for count in 0..<bytes.count { #expect(ProxyHeader(Array(bytes[..<count])) == .undecided) }
  }

  @Test(
    "lines that break the format",
    arguments: [
      "PROXY\r\n", "PROXY \r\n", "PROXZ TCP4", "GET / HTTP/1.1\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n",
      "PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n",
      "PROXY TCP4 ::1 1.2.3.4 1 2\r\n", "PROXY TCP6 1.2.3.4 ::1 1 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 -2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 +1 2\r\n",
      "PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n",
      "proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.4 x 1 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 \r\n",
    ])
  func malformed(line: String) {
    #expect(ProxyHeader(Array(line.utf8)) == .invalid)
  }

  @Test("a line ends within 107 bytes", arguments: [106, 107, 108])
  func length(count: Int) {
    let padding = String(repeating: "x", count: count - "PROXY UNKNOWN \r\n".utf8.count)
    let bytes = Array("PROXY UNKNOWN \(padding)\r\n".utf8)
    #expect(bytes.count == count)
    #expect(ProxyHeader(bytes) == (count <= 107 ? .whole(nil, byteCount: count) : .invalid))
    // Without an end it is undecided until no end can be in time.
    let open = Array(bytes.dropLast())
    #expect(ProxyHeader(open) == (open.count < 107 ? .undecided : .invalid))
  }

  private func binary(_ command: UInt8, _ family: UInt8, _ body: [UInt8]) -> [UInt8] {
    ProxyHeader.signature + [command, family, UInt8(body.count >> 8), UInt8(body.count & 0xFF)]
      + body
  }

  @Test(
    "a binary header is read with its extras, and never too early", arguments: [0, 1, 300, 4_084])
  func binary(extra: Int) {
    let addresses: [UInt8] = [192, 0, 2, 1, 192, 0, 2, 2, 0xDC, 0x04, 1, 0xBB]
    let bytes = binary(0x21, 0x11, addresses + [UInt8](repeating: 9, count: extra))
    let whole = ProxyHeader.whole(
      Client(address: "192.0.2.1", port: 0xDC04), byteCount: 28 + extra)
    #expect(ProxyHeader(bytes) == whole)
    #expect(ProxyHeader(bytes + [1, 2, 3]) == whole)
    for count in [0, 1, 11, 12, 15, 16, 27, bytes.count - 1] {
      #expect(ProxyHeader(Array(bytes[..<count])) == .undecided)
    }
  }

  @Test("binary headers of other families and commands")
  func families() {
    let six =
      [UInt8](repeating: 0, count: 15) + [1] + [UInt8](repeating: 0, count: 16) + [0, 80, 0, 81]
    #expect(
      ProxyHeader(binary(0x21, 0x21, six))
        == .whole(Client(address: "::1", port: 80), byteCount: 52))
    #expect(ProxyHeader(binary(0x20, 0x11, six)) == .whole(nil, byteCount: 52))
    #expect(ProxyHeader(binary(0x20, 0, [])) == .whole(nil, byteCount: 16))
    for family: UInt8 in [0x00, 0x12, 0x22, 0x31, 0xFF] {
      #expect(ProxyHeader(binary(0x21, family, six)) == .whole(nil, byteCount: 52))
    }
    for command: UInt8 in [0x22, 0x2F, 0x11, 0x31, 0x01] {
      #expect(ProxyHeader(binary(command, 0x11, six)) == .invalid)
    }
    #expect(ProxyHeader(binary(0x21, 0x11, [UInt8](repeating: 0, count: 11))) == .invalid)
    #expect(ProxyHeader(binary(0x21, 0x21, [UInt8](repeating: 0, count: 35))) == .invalid)
    let long = binary(0x21, 0x11, [UInt8](repeating: 0, count: 4_097))
    #expect(ProxyHeader(Array(long.prefix(16))) == .invalid, "its length says that it is too long")
    for index in 0..<12 {
      var damaged = binary(0x20, 0, [])
      damaged[index] ^= 0x80
      #expect(ProxyHeader(damaged) == .invalid, "byte \(index)")
    }
  }
}
