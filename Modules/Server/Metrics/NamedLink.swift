package import TernTransport

/// A link of an endpoint for foreign clients, whose protocol figures tell apart.
package protocol NamedLink: Link {
  /// The protocol: a short word such as `websocket`.
  var protocolName: String { get }
}

extension LinkState {
  /// Returns the protocol of a link, for figures: one of a few words.
  static func protocolName(of link: any Link) -> String {
    if let named = link as? any NamedLink { return named.protocolName }
    return link.peer.hasPrefix("loopback#") ? "memory" : "tcp"
  }
}
