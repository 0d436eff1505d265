public import TernTransport

/// A host and a port that a client connects to.
public struct TCPAddress: Hashable, Sendable {
  /// The most addresses that a client may know. A list beyond it is an error of the option `host`.
  /// Attempts go through the list one by one, each with its own time limit, so a longer list only
  /// delays the report that all are unreachable.
  public static let limit = 16

  /// A name, or an address without brackets.
  public var host: String
  /// 1...65535 to connect; a listener at port 0 gets a free one.
  public var port: Int

  /// Names a host and a port.
  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Reads addresses with commas between them, each `host`, `host:port`, `[IPv6 address]` or
  /// `[IPv6 address]:port`. Spaces around them do not count.
  ///
  /// - Parameter defaultPort: The port of addresses that name none.
  /// - Returns: At least one address, in the order of the text.
  /// - Throws: `TransportError.invalidOption(name:reason:)` for the option `host`; the reason names
  ///   the address that is none.
  public static func list(
    _ text: String, defaultPort: Int
  ) throws(TransportError) -> [TCPAddress] {
    var addresses: [TCPAddress] = []
    for entry in entries(of: text) {
      addresses.append(try TCPAddress(entry, defaultPort: defaultPort))
    }
    return addresses
  }

  /// Returns the parts of a list of addresses with commas between them, without spaces around them;
  /// one at least.
  ///
  /// Empty parts are kept: `a,,b` has three, and the empty one is an error of the caller's parser.
  package static func entries(of text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      var entry = part.drop { $0 == " " }
      while entry.last == " " { entry.removeLast() }
      return String(entry)
    }
  }

  /// Reads one address that names its port, as the nodes of a cluster tell each other:
  /// `10.0.0.1:9000`, `[fd00::1]:9000`, `db-1:9000`; `nil` for other texts.
  package init?(withPort text: String) {
    guard let address = try? TCPAddress(text, defaultPort: 0), address.port > 0 else { return nil }
    self = address
  }

  /// Reads one entry of a list.
  ///
  /// - Parameter defaultPort: The port of an entry that names none.
  /// - Throws: `invalidOption` for `host`: an empty entry, an open bracket, text behind the
  ///   bracket that is no port, or a port beyond 65,535.
  private init(_ text: String, defaultPort: Int) throws(TransportError) {
    var (host, rest) = (text[...], Substring())
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else {
        throw Self.invalid(text, "the bracket is not closed")
      }
      host = text[..<end].dropFirst()
      rest = text[end...].dropFirst()
    } else if let colon = text.firstIndex(of: ":"), !text[colon...].dropFirst().contains(":") {
      // More colons than one, and no bracket: an IPv6 address without a port.
      host = text[..<colon]
      rest = text[colon...]
    }
    if host.isEmpty {
      if text.isEmpty { throw .invalidOption(name: "host", reason: "an address in it is empty") }
      throw Self.invalid(text, "it names no host")
    }
    self.init(host: String(host), port: defaultPort)
    guard !rest.isEmpty else { return }
    guard rest.hasPrefix(":") else { throw Self.invalid(text, "only a port follows the bracket") }
    guard let port = Int(digits: rest.dropFirst()), 0...65_535 ~= port else {
      throw Self.invalid(text, "the port is a number in 0...65535, not \"\(rest.dropFirst())\"")
    }
    self.port = port
  }

  private static func invalid(_ text: String, _ reason: String) -> TransportError {
    .invalidOption(name: "host", reason: "\"\(text)\" is no address: \(reason)")
  }

  /// Checks the addresses of one client.
  ///
  /// - Throws: `invalidOption` for more than ``limit`` addresses, or for one that appears
  ///   twice. Hosts are compared as texts, without a look-up.
  static func validate(_ addresses: [TCPAddress]) throws(TransportError) {
    guard addresses.count <= limit else {
      throw .invalidOption(
        name: "host", reason: "at most \(limit) addresses, not \(addresses.count)")
    }
    for (index, address) in addresses.enumerated() where addresses[..<index].contains(address) {
      throw .invalidOption(name: "host", reason: "\(address) is named twice")
    }
  }
}

extension TCPAddress: CustomStringConvertible {
  /// `host:port`, with brackets around an IPv6 address.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
