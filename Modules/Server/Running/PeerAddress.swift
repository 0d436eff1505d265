/// The parts of a peer's name.
enum PeerAddress {
  /// Returns the address of a peer, without its port: all connections from there count as one.
  ///
  /// Endpoints name peers of other machines with a word before and the page behind the address:
  /// `remote 192.0.2.7:50412 for https://example.com`.
  static func address(of peer: String) -> String {
    var text = peer[...]
    if text.hasPrefix("remote ") { text = text.dropFirst("remote ".count) }
    text = text.prefix { $0 != " " }
    guard let colon = text.lastIndex(of: ":") else {
      // Links in memory are numbered, and come from one program.
      return String(text.prefix { $0 != "#" })
    }
    return String(text[..<colon])
  }

  /// Returns true when the peer is on this machine: over loopback, in memory or as an address.
  ///
  /// Peers are named as transports name them: `127.0.0.1:50412`, `[::1]:50412`, `::1:50412`,
  /// `loopback#3`.
  static func isLocal(_ peer: String) -> Bool {
    if peer.hasPrefix("127.") || peer.hasPrefix("[::ffff:127.") || peer.hasPrefix("loopback#") {
      return true
    }
    return peer.hasPrefix("[::1]") || peer.hasPrefix("::1") && address(of: peer) == "::1"
  }
}
