#if TCP
  package import NIOCore

  /// Adds the framing to a channel whose tunnel is open, on its event loop; the handler below it
  /// then announces that the channel is active.
  ///
  /// The second argument is the other end as a proxy names it; `nil` for the socket's own peer.
  package typealias LinkInstallation = @Sendable (any Channel, LinkPeer?) throws -> Void

  /// The other end of a link that comes through a tunnel.
  package struct LinkPeer: Sendable {
    /// The name for logs and for the rules of access, as ``TCPLink`` has it.
    package let name: String
    /// The address, without its port.
    package let address: String
    /// True when a node of another shard has named the peer.
    package let isOfOtherShard: Bool

    /// A peer with a name and an address.
    package init(name: String, address: String, isOfOtherShard: Bool = false) {
      self.isOfOtherShard = isOfOtherShard
      self.name = name
      self.address = address
    }
  }

  /// A protocol that carries the framing's bytes inside its own, such as WebSocket.
  ///
  /// The framing inside is unchanged, preamble included. A tunnel adds its handlers below the
  /// link's and calls the installation once its own opening handshake is over.
  package struct LinkTunnel: Sendable {
    /// Sets up a channel that is being connected to an address, on its event loop. Failures before
    /// the tunnel is open are reported once or more to the third argument.
    package let connect:
      @Sendable (
        any Channel, TCPAddress, @escaping @Sendable (any Error) -> Void,
        @escaping LinkInstallation
      ) throws -> Void
    /// Sets up a channel that was accepted, on its event loop. An error closes the channel. The
    /// tunnel sets its own time limit for the opening.
    package let accept: @Sendable (any Channel, @escaping LinkInstallation) throws -> Void

    /// A tunnel with its two ends.
    package init(
      connect:
        @escaping @Sendable (
          any Channel, TCPAddress, @escaping @Sendable (any Error) -> Void,
          @escaping LinkInstallation
        ) throws -> Void,
      accept: @escaping @Sendable (any Channel, @escaping LinkInstallation) throws -> Void
    ) {
      self.connect = connect
      self.accept = accept
    }
  }
#endif
