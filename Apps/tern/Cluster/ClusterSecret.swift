import TernCore

/// The secret that the nodes of a cluster share, by which they recognize each other's connections.
struct ClusterSecret: Sendable {
  /// The fewest bytes of a secret.
  static let leastBytes = 32
  /// The most bytes of a secret.
  static let mostBytes = 4_096

  private let inner: [UInt8]
  private let outer: [UInt8]

  /// A secret from a file: its bytes, without a line end behind them.
  init(file path: String) throws(Failure) {
    var bytes = try fileBytes(at: path)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard (Self.leastBytes...Self.mostBytes).contains(bytes.count) else {
      throw Failure(
        .usage,
        "\(path) has \(bytes.count) bytes; a secret has \(Self.leastBytes) to \(Self.mostBytes)")
    }
    self.init(bytes)
  }

  /// A secret of any length.
  init(_ bytes: [UInt8]) {
    let block = 64
    var key = bytes.count > block ? SHA256Hash.digest(of: bytes) : bytes
    key += [UInt8](repeating: 0, count: block - key.count)
    inner = key.map { $0 ^ 0x36 }
    outer = key.map { $0 ^ 0x5C }
  }

  /// Returns the HMAC-SHA256 of a message under the secret, 32 bytes. Source: RFC 2104.
  func code(of message: [UInt8]) -> [UInt8] {
    SHA256Hash.digest(of: outer + SHA256Hash.digest(of: inner + message))
  }
}
