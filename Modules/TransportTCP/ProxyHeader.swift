/// The header by which a proxy names its client before the connection's own bytes: the PROXY
/// protocol, version 1 (text) and version 2 (binary).
///
/// Source: The PROXY protocol, versions 1 & 2, HAProxy Technologies.
package enum ProxyHeader: Equatable, Sendable {
  /// The other end of the client's connection.
  ///
  /// The address is in the canonical text of RFC 5952, so texts can be compared.
  package struct Client: Equatable, Sendable {
    /// The address, without its port.
    package let address: String
    package let port: Int
  }

  /// More bytes are needed to tell. The caller keeps the bytes and reads them again together with
  /// the next ones.
  case undecided
  /// The header, which is so long; without a client when the proxy speaks for itself.
  case whole(Client?, byteCount: Int)
  /// The bytes begin with no header, or with one that breaks its format.
  case invalid

  /// The most bytes of a header of version 1, its line end included.
  private static let mostTextBytes = 107
  /// The most bytes behind the head of version 2. The format allows 65,535. Real headers have less
  /// than 100 bytes without extensions; the limit bounds what an untrusted sender makes the server
  /// hold.
  private static let mostBinaryBytes = 4_096
  /// The beginning of a header of version 1.
  private static let text = Array("PROXY ".utf8)
  /// The 12 bytes that a header of version 2 begins with: no valid beginning of HTTP, TLS or
  /// `TERN`.
  static let signature: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
  ]

  /// Reads the first bytes of a connection.
  ///
  /// - Parameter bytes: Everything that came so far, from the first byte of the connection. The
  ///   first byte decides between the versions: `P` or a carriage return.
  package init(_ bytes: [UInt8]) {
    if bytes.first == Self.text[0] {
      self = Self.readText(bytes)
    } else if bytes.isEmpty || bytes.first == Self.signature[0] {
      self = Self.readBinary(bytes)
    } else {
      self = .invalid
    }
  }

  /// Reads version 1: `PROXY TCP4 source destination sourcePort destinationPort`, or `PROXY
  /// UNKNOWN …`, with CR LF behind it and single spaces between the words.
  ///
  /// The family has to be that of the source address; the destination is checked and ignored.
  private static func readText(_ bytes: [UInt8]) -> ProxyHeader {
    guard zip(bytes, text).allSatisfy({ $0 == $1 }) else { return .invalid }
    let head = bytes.prefix(mostTextBytes)
    guard let end = head.firstIndex(of: 0x0A) else {
      return bytes.count < mostTextBytes ? .undecided : .invalid
    }
    guard end > text.count, bytes[end - 1] == 0x0D else { return .invalid }
    let words = String(decoding: bytes[text.count..<(end - 1)], as: UTF8.self)
      .split(separator: " ", omittingEmptySubsequences: false)
    if words.first == "UNKNOWN" { return .whole(nil, byteCount: end + 1) }
    guard words.count == 5, words[0] == "TCP4" || words[0] == "TCP6",
      let address = TrustedProxies.bytes(of: String(words[1])),
      TrustedProxies.bytes(of: String(words[2])) != nil, let port = UInt16(digits: words[3]),
      UInt16(digits: words[4]) != nil, (words[0] == "TCP4") == !words[1].contains(":")
    else { return .invalid }
    return .whole(Client(address: name(of: address), port: Int(port)), byteCount: end + 1)
  }

  /// Reads version 2.
  ///
  /// Byte 12 holds the version (high half, 2) and the command (low half: 0 local, 1 proxied);
  /// byte 13 the family and the protocol; bytes 14 and 15 the length of what follows, most
  /// significant first. Then come source and destination address, both ports, and extensions,
  /// which are skipped.
  private static func readBinary(_ bytes: [UInt8]) -> ProxyHeader {
    guard zip(bytes, signature).allSatisfy({ $0 == $1 }) else { return .invalid }
    guard bytes.count >= 16 else { return .undecided }
    let length = Int(bytes[14]) << 8 | Int(bytes[15])
    guard bytes[12] >> 4 == 2, length <= mostBinaryBytes else { return .invalid }
    guard bytes.count >= 16 + length else { return .undecided }
    let whole = 16 + length
    switch bytes[12] & 0x0F {
    // The proxy's own connection, such as a check of health.
    case 0: return .whole(nil, byteCount: whole)
    case 1: break
    default: return .invalid
    }
    let size: Int
    switch bytes[13] {
    case 0x11: size = 4
    case 0x21: size = 16
    // UDP, Unix sockets and unspecified families: the connection is served, under the proxy's
    // address.
    default: return .whole(nil, byteCount: whole)
    }
    guard length >= 2 * size + 4 else { return .invalid }
    let address = Array(bytes[16..<(16 + size)])
    let port = Int(bytes[16 + 2 * size]) << 8 | Int(bytes[17 + 2 * size])
    return .whole(Client(address: name(of: address), port: port), byteCount: whole)
  }

  /// Returns the text of an address, as sockets give it: a client has one name, whether it connects
  /// itself or is named by a header. Source: RFC 5952.
  static func name(of bytes: [UInt8]) -> String {
    if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
    let groups = stride(from: 0, to: 16, by: 2).map { index in
      UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    }
    // An IPv4 address inside IPv6 ends in dotted decimals, as the system's sockets print it.
    if groups.starts(with: [0, 0, 0, 0, 0, 0xFFFF]) {
      return "::ffff:" + name(of: Array(bytes.suffix(4)))
    }
    let zeros = longestZeros(groups)
    let text = { (part: ArraySlice<UInt16>) in
      part.map { String($0, radix: 16) }.joined(separator: ":")
    }
    if zeros.isEmpty { return text(groups[...]) }
    return text(groups[..<zeros.lowerBound]) + "::" + text(groups[zeros.upperBound...])
  }

  /// Returns the longest run of zeros, the first of several; empty when none is longer than one.
  private static func longestZeros(_ groups: [UInt16]) -> Range<Int> {
    var longest = 0..<0
    var start = 0
    while start < groups.count {
      let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
      if end - start > max(1, longest.count) { longest = start..<end }
      start = end + 1
    }
    return longest
  }
}
