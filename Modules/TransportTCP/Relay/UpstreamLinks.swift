#if TCP
  import NIOCore
  import NIOPosix
  package import TernTransport

  extension TCPTransport {
    /// Opens a link to another node of the cluster, on behalf of a client of this one: that node
    /// takes the link for the client's own. It is secured if this node's port is.
    ///
    /// The link counts among the connections of `relay` until it is gone, and among the
    /// descriptors and the memory of the client's address.
    ///
    /// - Parameters:
    ///   - node: The address that the other node is known by, with its port.
    ///   - peer: The client, as `Link.peer` has it; see ``RelayedClient/init(peer:)``.
    ///   - isOfOtherShard: True when that node is one of another shard.
    ///   - relay: The relay of this node.
    ///   - open: Makes the handler of the link, on ``executor``.
    /// - Returns: The link. Whether the other node serves it, only its first frame tells: a node
    ///   that does not believe this one, or does not lead, ends it.
    /// - Throws: `TransportError`, within ``RelayLimits/connectSeconds``; `open` was not called
    ///   then. `unreachable` also for a client without an address, `tooManyConnections` beyond
    ///   the limit of the relay.
    package func connect(
      to node: String, for peer: String, ofOtherShard isOfOtherShard: Bool = false,
      through relay: NodeRelay, _ open: @escaping LinkOpening
    ) async throws(TransportError) -> any Link {
      guard let address = TCPAddress(withPort: node) else {
        throw .invalidOption(name: "host", reason: "\"\(node)\" is no address of a node")
      }
      let unreachable = { (reason: String) in
        TransportError.unreachable(host: address.host, port: address.port, reason: reason)
      }
      guard node != relay.setting.address else { throw unreachable("it is this node itself") }
      guard let client = RelayedClient(peer: peer) else {
        throw unreachable("\"\(peer)\" has no address that a node could be told")
      }
      let source = client.client.address
      guard relay.beginUpstream(for: source) else { throw .tooManyConnections(limit: relay.limit) }
      let upstream = Upstream(
        node: node, address: address, client: client, isOfOtherShard: isOfOtherShard, relay: relay,
        deadline: .now() + .seconds(RelayLimits.connectSeconds), open: open)
      do {
        let link = try await reach(upstream)
        relay.count(\.upstreamOpened)
        link.whenGone { relay.endUpstream(for: source) }
        return link
      } catch {
        relay.endUpstream(for: source)
        let error = TransportError.connecting(to: upstream.options(of: options), failedWith: error)
        if case .tooManyConnections = error {
          relay.count(\.upstreamRefused)
        } else {
          relay.count(\.upstreamUnreachable)
        }
        throw error
      }
    }

    /// Opens a link, and tries again where another proof may satisfy this node.
    ///
    /// Proofs are tried in turn, each on a connection of its own, because a handshake that has
    /// failed ends its connection. The deadline covers all attempts together.
    private func reach(_ upstream: Upstream) async throws -> TCPLink {
      guard let tls else { return try await attempt(upstream) }
      let trust = tls.nodes
      if !trust.isKnown { try tls.loadCertificate() }
      var proofs = trust.proofs[...]
      while let proof = proofs.popFirst() {
        do {
          let link = try await attempt(upstream, proof)
          trust.note(proof)
          return link
        } catch let error as TLSFailure where error.isOfCertificate && !proofs.isEmpty {}
      }
      throw TransportError.shutDown
    }

    /// Makes one connection: the header of the client, then TLS if there is a proof to demand,
    /// then the framing.
    ///
    /// - Parameter proof: The proof that the node has to give; `nil` without TLS.
    private func attempt(
      _ upstream: Upstream, _ proof: NodeTrust.Proof? = nil
    ) async throws -> TCPLink {
      // A mistake in the options is reported before any connection is made.
      if let proof { try tls?.nodes.validate(proof, host: upstream.address.host) }
      try beginAttempt()
      let opened = loop.makePromise(of: TCPLink.self)
      let setting = setting(
        upstream.open, didMeetItself: { opened.fail(SelfConnection()) },
        didOpen: { opened.succeed($0) })
      let timeout = max(.milliseconds(1), upstream.deadline - .now())
      TCPSockets.upstream(on: loop, timeout: timeout)
        .channelInitializer { [tls, connections] channel in
          channel.eventLoop.makeCompletedFuture {
            try TCPSockets.keepFromChildren(channel)
            // Counted for the client and not for the leader: all clients of this node would
            // otherwise share one address's share.
            try connections.admit(channel, as: upstream.client.client.address)
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(RelayHeaderWriter(upstream) { opened.fail($0) })
            if let proof {
              try tls?.nodes.secure(
                channel, proof, to: upstream.address.host, until: upstream.deadline
              ) { opened.fail($0) }
            }
            try pipeline.addHandler(TCPLinkHandler(setting, other: upstream.peer))
          }
        }
        .connect(host: upstream.address.host, port: upstream.address.port)
        .whenComplete { result in
          if case .failure(let error) = result { opened.fail(error) }
          self.endAttempt()
        }
      return try await opened.futureResult.get()
    }
  }

  /// A link to another node that is to be opened on behalf of a client.
  private struct Upstream: Sendable {
    /// The address as the other node knows it, which the header's code covers.
    let node: String
    let address: TCPAddress
    let client: RelayedClient
    let isOfOtherShard: Bool
    let relay: NodeRelay
    let deadline: NIODeadline
    let open: LinkOpening

    /// The header of one connection.
    var header: [UInt8]? {
      relay.header(
        for: client.client, isRemote: client.isRemote, isOfOtherShard: isOfOtherShard, to: node)
    }

    /// The other end of the link. What it holds of frames counts for the client: all links of a
    /// node come from one address, whose share would be too small.
    var peer: LinkPeer { LinkPeer(name: address.description, address: client.client.address) }

    /// Returns the options of a transport, for errors.
    func options(of options: TCPOptions) -> TCPOptions {
      var options = options.reaching(address)
      options.connectTimeoutSeconds = Int(RelayLimits.connectSeconds)
      return options
    }
  }

  /// Sends the header of a client before all other bytes of a connection, those of TLS included.
  private final class RelayHeaderWriter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The link to open, with the function that makes its header.
    private let upstream: Upstream
    /// Receives the reason when there is no header to send.
    private let didFail: @Sendable (any Error) -> Void

    init(_ upstream: Upstream, didFail: @escaping @Sendable (any Error) -> Void) {
      self.upstream = upstream
      self.didFail = didFail
    }

    func channelActive(context: ChannelHandlerContext) {
      // Made when it is sent: a header is good for one connection, and for some seconds.
      guard let header = upstream.header else {
        didFail(ChannelError.inappropriateOperationForState)
        return context.close(promise: nil)
      }
      // It leaves with the first bytes of the handlers behind.
      context.write(wrapOutboundOut(ByteBuffer(bytes: header)), promise: nil)
      context.fireChannelActive()
    }
  }
#endif
