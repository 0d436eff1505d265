package import TernTransport

/// Opens links to the node that leads, on behalf of clients of this one.
package protocol LeaderLinks: Sendable {
  /// Opens a link to the node at `address`.
  /// - Parameter client: The peer of the client's link, as `Link.peer` has it.
  func connect(
    to address: String, for client: String, _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link
}
