/// The addresses and networks of proxies whose word about their clients counts.
package struct TrustedProxies: Hashable, Sendable {
  /// The first `bits` bits of `bytes` are compared, and the rest is ignored.
  private struct Network: Hashable {
    /// 4 or 16 bytes, most significant first; an IPv4 address inside IPv6 has 4.
    let bytes: [UInt8]
    let bits: Int
  }

  private let networks: [Network]

  /// No proxy is trusted.
  package init() { networks = [] }

  /// Reads addresses (`10.0.0.7`, `::1`) and networks (`10.0.0.0/8`, `fd00::/8`). The bits of a
  /// network in IPv6 are those of IPv6, also where it is one of IPv4: `::ffff:10.0.0.0/104`.
  ///
  /// - Returns: `nil` when one of the texts is neither.
  package init?(_ texts: [String]) {
    var networks: [Network] = []
    for text in texts {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count <= 2, let bytes = Self.bytes(of: String(parts[0])) else { return nil }
      var bits = bytes.count * 8
      if parts.count == 2 {
        // The bits before an IPv4 address inside IPv6, which are compared as a whole.
        let before = bits == 32 && parts[0].contains(":") ? 96 : 0
        guard let given = Int(digits: parts[1]), (before...(before + bits)).contains(given) else {
          return nil
        }
        bits = given - before
      }
      networks.append(Network(bytes: bytes, bits: bits))
    }
    self.networks = networks
  }

  /// True when no proxy is trusted.
  package var isEmpty: Bool { networks.isEmpty }

  /// Returns true when an address, without a port, is one of the proxies.
  ///
  /// Families are never mixed: `::/0` contains no IPv4 address. O(*n*) in the networks.
  package func contains(_ address: String) -> Bool {
    guard !networks.isEmpty, let bytes = Self.bytes(of: address) else { return false }
    return networks.contains { network in
      network.bytes.count == bytes.count && Self.agree(network.bytes, bytes, bits: network.bits)
    }
  }

  /// Returns the address of an entry of `X-Forwarded-For`, which may have a port; `nil` when it is
  /// none.
  ///
  /// Accepts `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1`, `[2001:db8::1]` and
  /// `[2001:db8::1]:443`. Brackets and the port are dropped; the port is not checked.
  package static func address(in entry: String) -> String? {
    if bytes(of: entry) != nil {
      return entry.hasPrefix("[") ? String(entry.dropFirst().dropLast()) : entry
    }
    guard let colon = entry.lastIndex(of: ":") else { return nil }
    let address = String(entry[..<colon])
    guard entry.hasPrefix("[") || !address.contains(":"), bytes(of: address) != nil else {
      return nil
    }
    return address.hasPrefix("[") ? String(address.dropFirst().dropLast()) : address
  }

  /// - Parameter bits: At most eight times the bytes of either side.
  private static func agree(_ left: [UInt8], _ right: [UInt8], bits: Int) -> Bool {
    for index in 0..<(bits / 8) where left[index] != right[index] { return false }
    let rest = bits % 8
    if rest == 0 { return true }
    let mask = ~UInt8(0) << (8 - rest)
    return left[bits / 8] & mask == right[bits / 8] & mask
  }

  /// Returns the bytes of an address: 4 or 16. An IPv4 address inside IPv6 has 4.
  static func bytes(of text: String) -> [UInt8]? {
    var text = text[...]
    if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
    if !text.contains(":") { return version4(text) }
    guard let bytes = version6(text) else { return nil }
    let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    return bytes.prefix(12).elementsEqual(mapped) ? Array(bytes.suffix(4)) : bytes
  }

  /// Returns true for an address of the machine itself.
  ///
  /// All of 127.0.0.0/8 and `::1`. Names such as `localhost` are no addresses.
  package static func isLoopback(_ address: String) -> Bool {
    guard let bytes = bytes(of: address) else { return false }
    return bytes.count == 4
      ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
  }

  /// Reads four decimal numbers. Signs, spaces and numbers with more than three digits are
  /// rejected; leading zeros are read as decimal digits.
  private static func version4(_ text: Substring) -> [UInt8]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
        let byte = UInt8(part)
      else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// Reads an IPv6 address without brackets and without a zone; `::` stands for at least one group.
  private static func version6(_ text: Substring) -> [UInt8]? {
    let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
    // Only the end of an address may be one of IPv4.
    guard halves.count == 1 || halves.count == 2 && !halves[0].contains("."),
      let head = groups(halves[0])
    else { return nil }
    guard halves.count == 2 else { return head.count == 16 ? head : nil }
    guard let tail = groups(halves[1]), head.count + tail.count <= 14 else { return nil }
    return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
  }

  /// Groups of hexadecimal digits, the last of which may be an IPv4 address.
  private static func groups(_ text: Substring) -> [UInt8]? {
    if text.isEmpty { return [] }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    var bytes: [UInt8] = []
    for (index, part) in parts.enumerated() {
      if index == parts.count - 1, part.contains(".") {
        guard let last = version4(part) else { return nil }
        bytes += last
        continue
      }
      guard (1...4).contains(part.utf8.count), part.first != "+",
        let group = UInt16(part, radix: 16)
      else { return nil }
      bytes += [UInt8(group >> 8), UInt8(truncatingIfNeeded: group)]
    }
    return bytes.count <= 16 ? bytes : nil
  }
}

extension FixedWidthInteger {
  /// The number that a text of decimal digits alone stands for, without a sign.
  ///
  /// `Int("+5")` succeeds in the standard library; protocols here allow no sign, so this fails.
  /// An empty text fails as well, and a number beyond the type.
  init?(digits text: some StringProtocol) {
    guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    self.init(text)
  }
}
