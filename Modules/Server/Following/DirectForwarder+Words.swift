import TernSecurity
import TernTransport

// The texts of answers, and the names of clients.
extension DirectForwarder {
  static let unreached = "The node that leads could not be reached"
  static let lost = "The connection to the node that leads ended before its answer."
  static let open = "It is not known if the request was carried out."
  static let unclear = unavailable("The node that leads sent no answer. \(open)")

  static func unavailable(_ text: String) -> DirectAnswer { .refused(.unavailable(text)) }

  /// The name by which the leader knows a client. One whose page is from elsewhere must not count
  /// there as one on the leader's machine.
  static func peer(of request: DirectRequest) -> String {
    let name = peer(of: request.address)
    return request.isLocal || !PeerAddress.isLocal(name) ? name : "remote \(name)"
  }

  /// The peer's name of a client at an address: requests do not tell the port.
  static func peer(of address: String) -> String {
    if address.hasPrefix("[") { return address + ":0" }
    if address.utf8.contains(UInt8(ascii: ":")) { return "[\(address)]:0" }
    return address.utf8.contains(UInt8(ascii: ".")) ? address + ":0" : address + "#0"
  }
}

/// This node's end of a link to the node that leads.
final class DirectLeaderLink: LinkHandler {
  private let id: UInt64
  private let forwarder: DirectForwarder

  init(_ id: UInt64, _ forwarder: DirectForwarder) {
    self.id = id
    self.forwarder = forwarder
  }

  func linkDidReceive(_ frames: [[UInt8]]) { forwarder.post(.received(id, frames)) }

  func linkDidClose(_ reason: LinkClosure) { forwarder.post(.closed(id)) }
}
