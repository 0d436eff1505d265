import TernTransportTCP

/// The host and the port of a server, and the protocol that carries the connection.
public struct ServerAddress: Hashable, Sendable {
  /// The port of a server unless another one is given.
  public static let defaultPort = 9_000

  /// A protocol that carries the connection to a server.
  public enum Scheme: String, Hashable, Sendable {
    /// TCP; with TLS where the options say so.
    case tcp
    /// A WebSocket, which passes proxies and load balancers for HTTP; port 80 unless given.
    case webSocket = "ws"
    /// A WebSocket over TLS; port 443 unless given.
    case secureWebSocket = "wss"
  }

  /// The protocol; TCP unless given.
  public var scheme: Scheme
  /// A name or an address; 127.0.0.1 unless given.
  public var host: String
  /// 1...65535.
  public var port: Int
  /// The path of a WebSocket, where a proxy serves Tern below one; `nil` for the usual one.
  public var path: String?

  /// Names a host and a port.
  public init(
    host: String = "127.0.0.1", port: Int = ServerAddress.defaultPort, scheme: Scheme = .tcp,
    path: String? = nil
  ) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.path = path
  }

  /// Reads `host`, `host:port`, `[IPv6 address]` or `[IPv6 address]:port`, with `ws://` or `wss://`
  /// in front for a WebSocket, and then with a path behind it for a proxy that needs one.
  ///
  /// - Throws: ``OpenError/address(_:reason:)``.
  public init(_ text: String) throws(OpenError) {
    var (place, given) = (text[...], Scheme.tcp)
    if let mark = text.firstRange(of: "://") {
      place = text[mark.upperBound...]
      let authority = place.prefix { $0 != "/" }
      guard let known = Scheme(rawValue: String(text[..<mark.lowerBound])), known != .tcp else {
        throw .address(
          text, reason: "its scheme is ws or wss, or none; write \"\(authority)\"")
      }
      given = known
    }
    guard let start = place.firstIndex(of: "/") else {
      try self.init(text, place, given)
      return
    }
    guard given != .tcp else {
      throw .address(text, reason: "it takes no path; write \"\(text[..<start])\"")
    }
    try self.init(text, place[..<start], given)
    let path = String(place[start...])
    self.path = path == "/" ? nil : path
  }

  /// Reads addresses with commas between them; spaces around them do not count.
  ///
  /// - Returns: At least one address, in the order of the text.
  /// - Throws: ``OpenError/address(_:reason:)`` with the address that is none, or that has another
  ///   scheme or path than the first one.
  public static func list(_ text: String) throws(OpenError) -> [ServerAddress] {
    var addresses: [ServerAddress] = []
    for entry in TCPAddress.entries(of: text) { addresses.append(try ServerAddress(entry)) }
    try check(addresses)
    return addresses
  }

  /// Checks that one transport reaches all addresses.
  static func check(_ addresses: [ServerAddress]) throws(OpenError) {
    guard let first = addresses.first else {
      throw .option("servers", reason: "it names no server")
    }
    for address in addresses {
      if address.scheme != first.scheme {
        throw .address("\(address)", reason: "its scheme is not that of \(first)")
      }
      if address.path != first.path {
        throw .address("\(address)", reason: "its path is not that of \(first)")
      }
    }
  }

  private init(_ text: String, _ place: Substring, _ scheme: Scheme) throws(OpenError) {
    guard !place.contains(where: \.isWhitespace) else {
      throw .address(text, reason: "a space is in it")
    }
    self.scheme = scheme
    let (host, port) = try Self.split(String(place))
    guard !host.isEmpty else { throw .address(text, reason: "it names no host") }
    self.host = host
    guard let port else {
      self.port = scheme.defaultPort
      return
    }
    guard port.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(port),
      1...65_535 ~= number
    else {
      throw .address(text, reason: "the port is a number in 1...65535, not \"\(port)\"")
    }
    self.port = number
  }

  private static func split(
    _ text: String
  ) throws(OpenError) -> (host: String, port: Substring?) {
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else {
        throw .address(text, reason: "the bracket is not closed")
      }
      let host = String(text[text.index(after: text.startIndex)..<end])
      let rest = text[text.index(after: end)...]
      if rest.isEmpty { return (host, nil) }
      guard rest.hasPrefix(":") else {
        throw .address(text, reason: "only a port follows the bracket")
      }
      return (host, rest.dropFirst())
    }
    guard let colon = text.firstIndex(of: ":") else { return (text, nil) }
    let port = text[text.index(after: colon)...]
    // More than one colon, and no bracket: an IPv6 address without a port.
    if port.contains(":") { return (text, nil) }
    return (String(text[..<colon]), port)
  }
}

extension ServerAddress: CustomStringConvertible {
  /// `host:port`, with the scheme of a WebSocket in front.
  public var description: String {
    let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    return scheme == .tcp ? place : "\(scheme.rawValue)://\(place)\(path ?? "")"
  }
}

extension ServerAddress.Scheme {
  fileprivate var defaultPort: Int {
    switch self {
    case .tcp: ServerAddress.defaultPort
    case .webSocket: 80
    case .secureWebSocket: 443
    }
  }
}
