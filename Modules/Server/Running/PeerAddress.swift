/// What can be told from the name of a peer.
enum PeerAddress {
  /// Whether the peer is on this machine: over loopback, in memory or as an address.
  ///
  /// Peers are named as transports name them: `127.0.0.1:50412`, `[::1]:50412`, `loopback#3`.
  static func isLocal(_ peer: String) -> Bool {
    peer.hasPrefix("127.") || peer.hasPrefix("[::1]") || peer.hasPrefix("::1")
      || peer.hasPrefix("[::ffff:127.") || peer.hasPrefix("loopback#")
  }
}
