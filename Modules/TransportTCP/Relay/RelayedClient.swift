/// The client of a link, as one node tells another of it.
///
/// Its text form is the peer of a link; see ``peer``. Reading a text and printing it again
/// keeps address, port and remoteness, and drops the page.
package struct RelayedClient: Equatable, Sendable {
  /// The address and the port of the client.
  package let client: ProxyHeader.Client
  /// True when the client is to count as one of another machine, even if its address is of this
  /// one: it came through a proxy here, or speaks for a page of another site.
  package let isRemote: Bool

  /// Reads the peer of a link: `127.0.0.1:50412`, `[::1]:5000`, `::1:5000`, or, from endpoints,
  /// `remote 192.0.2.7:50412 for https://example.com`. The page is not passed on.
  ///
  /// A link in memory (`loopback#3`) is of a program on this machine, and becomes `127.0.0.1:0`. A
  /// node on another machine does not take it for one of its own machine's.
  ///
  /// - Returns: `nil` for a peer without an address of IP, such as a Unix socket.
  package init?(peer: String) {
    if peer.hasPrefix("loopback#") {
      client = ProxyHeader.Client(address: "127.0.0.1", port: 0)
      isRemote = false
      return
    }
    isRemote = peer.hasPrefix(Self.remoteWord)
    let text = peer.dropFirst(isRemote ? Self.remoteWord.count : 0).prefix { $0 != " " }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[colon...].dropFirst()),
      let bytes = TrustedProxies.bytes(of: String(text[..<colon]))
    else { return nil }
    client = ProxyHeader.Client(address: ProxyHeader.name(of: bytes), port: Int(port))
  }

  /// A client that a header names.
  init(client: ProxyHeader.Client, isRemote: Bool) {
    self.client = client
    self.isRemote = isRemote
  }

  /// The peer of its link.
  var peer: String {
    (isRemote ? Self.remoteWord : "") + "\(client.address):\(client.port)"
  }

  /// The word that ``Link/peer`` begins with for clients that count as remote. The gateway
  /// writes it.
  private static let remoteWord = "remote "
}
