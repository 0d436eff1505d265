#if TCP
  package import NIOCore
  import NIOWebSocket
  package import TernTransportTCP

  /// The WebSocket that carries links: names, limits, and the handlers of an open one.
  package enum WebSocketTunnel {
    /// The end of a connection that a handler serves.
    package enum Side: Sendable {
      /// The end that opened the WebSocket; it masks what it sends with random bits.
      case client(@Sendable () -> UInt64)
      /// The end that accepted it.
      case server
    }

    /// The subprotocol that both ends name.
    package static let subprotocol = "tern"
    /// The most bytes of one message, in both directions. A longer frame ends the link. Senders cut
    /// their output into messages of this size, so that large frames of the link do not need
    /// buffers of their size on the way.
    package static let messageBytes = 64 << 10

    /// Turns a channel whose opening handshake is over into a link, on its event loop.
    ///
    /// - Parameter other: The other end as a proxy names it; `nil` for the socket's own peer.
    package static func install(
      on channel: any Channel, for other: LinkPeer?, _ ready: LinkInstallation
    ) throws {
      try open(on: channel, as: .server, for: other, ready)
    }

    /// Adds the decoder of frames, the tunnel and the link, and announces the link.
    static func open(
      on channel: any Channel, as side: Side, for other: LinkPeer?, _ ready: LinkInstallation
    ) throws {
      let tunnel = WebSocketTunnelHandler(side)
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(
        ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: messageBytes)))
      try pipeline.addHandler(tunnel)
      // The link's handler comes last, and is told of the open connection only now:
      // `channelActive` of the socket passed before it was there.
      try ready(channel, other)
      tunnel.announce()
    }
  }
#endif
