import TernTransport
public import TernTransportTCP

/// The address that a WebSocket transport connects to or listens at, and its limits.
///
/// In the configuration: `{"kind": "websocket", "host": "db.example.com", "port": 443, "tls": {}}`.
/// All options of a TCP transport apply to the connection below; `path` is added.
public struct WebSocketOptions: Decodable, Hashable, Sendable {
  /// The connection that the WebSocket is opened on; with `tls`, the WebSocket is a `wss://` one.
  public var connection: TCPOptions
  /// The path of the request that opens the WebSocket, beginning with a slash, 1...1,024 bytes of
  /// printable ASCII. `/.tern` if it is left out, the path that a server answers at.
  public var path: String

  /// The path that a server answers at.
  public static let standardPath = "/.tern"

  /// Options with standard limits.
  public init(_ connection: TCPOptions = TCPOptions(), path: String = standardPath) {
    self.connection = connection
    self.path = path
  }

  private enum CodingKeys: String, CodingKey {
    case path
  }

  /// Reads the section; what it leaves out keeps its standard value.
  public init(from decoder: any Decoder) throws {
    let section = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try TCPOptions(from: decoder),
      path: try section.decodeIfPresent(String.self, forKey: .path) ?? Self.standardPath)
  }

  /// Checks what the connection's own options do not.
  func validate() throws(TransportError) {
    let isPrintable = path.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard path.hasPrefix("/"), isPrintable, path.utf8.count <= 1024 else {
      throw .invalidOption(
        name: "path", reason: "it begins with a slash and holds 1...1,024 printable characters")
    }
  }
}
