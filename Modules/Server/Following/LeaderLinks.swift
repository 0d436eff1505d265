package import TernTransport

/// Opens links to the node that leads, on behalf of clients of this one.
package protocol LeaderLinks: Sendable {
  /// Opens a link to the node at `address`.
  ///
  /// - Parameter client: The peer of the client's link, as `Link.peer` has it.
  func connect(
    to address: String, for client: String, _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link
}

extension TransportError {
  /// The reason for a client: without the address of a node, which may be an internal one.
  var textWithoutAddress: String {
    switch self {
    case .refused: "it does not listen"
    case .timedOut: "it did not answer in time"
    case .notSecure: "it cannot be talked to over TLS"
    case .tooManyConnections: "there are too many connections to nodes"
    case .shutDown: "the server stops"
    case .addressInUse, .cannotListen, .unreachable, .invalidOption, .notBuilt:
      "it cannot be reached"
    }
  }
}
