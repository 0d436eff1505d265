import TernTransportTCP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The address of a server on a command line: `host`, `host:port`, `[::1]:9000`, `wss://host/path`.
struct ServerAddress: Equatable {
  /// The port of a server unless something else is said.
  static let standardPort = 9_000

  let host: String
  let port: Int
  /// True if a WebSocket carries the connection, which passes HTTP proxies.
  var isWebSocket = false
  /// True if the address asks for TLS.
  var isSecured = false
  /// The path of the WebSocket; `nil` for the usual one.
  var path: String?

  /// - Parameter origin: Who says it, for messages: a flag or a variable.
  init(_ text: String, from origin: String) throws(Failure) {
    guard let scheme = text.firstRange(of: "://") else {
      try self.init(place: text, port: Self.standardPort, of: text, from: origin)
      return
    }
    let rest = text[scheme.upperBound...]
    let place = String(rest.prefix { $0 != "/" })
    let path = String(rest.dropFirst(place.count))
    switch text[..<scheme.lowerBound].lowercased() {
    case "ws": try self.init(place: place, port: 80, of: text, from: origin)
    case "wss":
      try self.init(place: place, port: 443, of: text, from: origin)
      isSecured = true
    case let name:
      let socket = name == "https" ? "wss" : "ws"
      throw Failure(
        .usage,
        "\(origin): \"\(text)\" is a URL of HTTP; commands speak their own protocol: give \(place), "
          + "or \(socket)://\(place) to pass an HTTP proxy")
    }
    isWebSocket = true
    self.path = path.isEmpty || path == "/" ? nil : path
  }

  private init(
    place: String, port standard: Int, of text: String, from origin: String
  ) throws(Failure) {
    let malformed = Failure(
      .usage,
      "\(origin): \"\(text)\" is no address; one is: db.example.com, 127.0.0.1:9000, [::1]:9000")
    var (host, port) = (Substring(place), Substring())
    if place.hasPrefix("["), let end = place.firstIndex(of: "]") {
      host = place[..<end].dropFirst()
      port = place[end...].dropFirst()
    } else if place.count(where: { $0 == ":" }) == 1, let colon = place.firstIndex(of: ":") {
      host = place[..<colon]
      port = place[colon...]
    }
    guard !host.isEmpty, !host.hasPrefix("[") else { throw malformed }
    var number = standard
    if !port.isEmpty {
      guard port.hasPrefix(":"), let given = Int(port.dropFirst()), (1...65_535).contains(given)
      else { throw malformed }
      number = given
    }
    (self.host, self.port) = (String(host), number)
  }

}

/// The addresses of one server on a command line, with commas between them; a client goes to the
/// next one when one fails.
struct ServerAddressList: Equatable {
  let first: ServerAddress
  /// The others, of the same scheme and path.
  let alternatives: [ServerAddress]

  /// - Parameter origin: The flag or the variable, for messages.
  init(_ text: String, from origin: String) throws(Failure) {
    var all: [ServerAddress] = []
    for entry in TCPAddress.entries(of: text) {
      all.append(try ServerAddress(entry, from: origin))
    }
    (first, alternatives) = (all[0], Array(all.dropFirst()))
    for other in alternatives {
      guard other.isWebSocket == first.isWebSocket, other.isSecured == first.isSecured,
        other.path == first.path
      else {
        throw Failure(
          .usage,
          "\(origin): \(other.place) has another scheme or path than \(first.place); all addresses "
            + "of one server have the same")
      }
    }
  }

  /// The hosts and ports.
  var places: [TCPAddress] { ([first] + alternatives).map(\.place) }

  /// True if the addresses ask for TLS.
  var isSecured: Bool { first.isSecured }

  /// The keys of the section "transport" that it sets.
  var flags: [(section: String, key: String, text: String)] {
    let host =
      alternatives.isEmpty ? first.host : places.map(\.description).joined(separator: ",")
    var flags = [("transport", "host", host), ("transport", "port", String(first.port))]
    if first.isWebSocket { flags.append(("transport", "kind", "websocket")) }
    if let path = first.path { flags.append(("transport", "path", path)) }
    return flags
  }
}

extension ServerAddress {
  /// The host and the port.
  fileprivate var place: TCPAddress { TCPAddress(host: host, port: port) }
}
