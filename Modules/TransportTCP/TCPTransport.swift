#if TCP
  import NIOCore
  import NIOPosix
  import Synchronization
  public import TernTransport

  /// Links over TCP sockets, all on one event loop.
  ///
  /// The framing on the wire is described in Docs/Formats/tcp-frames.md.
  public final class TCPTransport: Transport {
    /// Everything that calls from other threads change. It is never locked while user code runs.
    private struct State {
      /// The open links of both directions, for ``shutdown()``.
      var links: [ObjectIdentifier: TCPLink] = [:]
      /// The open listeners.
      var listeners: [ObjectIdentifier: any Channel] = [:]
      /// True from the first call of ``shutdown()``; it stays true.
      var isShutDown = false
      /// Connection attempts without an answer so far.
      var attempts = 0
      /// Sets up clients of other protocols; `nil` while there are none. Listeners copy it when
      /// they open, as they copy proxies, relay and load.
      var foreignSetup: ForeignProtocolSetup?
      var proxies = TrustedProxies()
      var expectsProxyHeader = false
      var relay: NodeRelay?
      /// The load of links that are opened from now on. Replaced, not changed, by ``charge(_:)``.
      var load: FrameLoad
      /// Made at the first listener or upstream link, unless a test gives one.
      var connections: ConnectionTable?
    }

    let options: TCPOptions
    private let limit: FrameLimit
    /// One thread. ``loop`` is its only loop; it ends in ``shutdown()`` or with the last attempt.
    private let group: MultiThreadedEventLoopGroup
    let loop: any EventLoop
    private let loopExecutor: LoopExecutor
    private let state: Mutex<State>
    /// `nil` for connections in the clear.
    let tls: TLSContexts?
    /// The protocol that carries the framing; `nil` for bare TCP.
    private let tunnel: LinkTunnel?

    /// A transport that has its thread and no socket yet.
    public convenience init(_ options: TCPOptions) throws(TransportError) {
      try self.init(options, tunnel: nil)
    }

    /// A transport whose links travel inside another protocol.
    ///
    /// - Throws: `invalidOption` for an option out of range or a file with roots that cannot be
    ///   read; `notBuilt` for TLS in a program without it. No thread is started then.
    package init(_ options: TCPOptions, tunnel: LinkTunnel?) throws(TransportError) {
      try options.validate()
      self.options = options
      self.tunnel = tunnel
      tls = try options.tls.map(TLSContexts.init)
      limit = FrameLimit(bytes: options.frameLimitBytes)
      state = Mutex(State(load: FrameLoad(limitBytes: options.heldFrameBytes)))
      group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      loop = group.next()
      loopExecutor = LoopExecutor(loop)
    }

    public var executor: any SerialExecutor { loopExecutor }

    public func enqueue(_ work: @escaping @Sendable () -> Void) {
      loopExecutor.perform(work)
    }

    public var addressCount: Int { options.addresses.count }

    @discardableResult
    public func connect(
      _ open: @escaping LinkOpening
    ) async throws(TransportError) -> any Link {
      try await connect(to: 0, open)
    }

    /// Opens a link to one of the addresses.
    ///
    /// - Parameters:
    ///   - address: The index among the addresses, less than ``addressCount``.
    ///   - open: Makes the owner, on the loop; not called when the attempt fails.
    /// - Throws: `TransportError`. The limit of `connectTimeoutSeconds` holds for each step of the
    ///   opening by itself: for TCP, for TLS, and for the request of a WebSocket.
    @discardableResult
    public func connect(
      to address: Int, _ open: @escaping LinkOpening
    ) async throws(TransportError) -> any Link {
      let place = options.addresses[address]
      let options = options.reaching(place)
      // A mistake in the options is reported before any connection is made.
      try tls?.validate(host: options.host)
      try beginAttempt()
      let opened = loop.makePromise(of: TCPLink.self)
      let setting = setting(
        open, didMeetItself: { opened.fail(SelfConnection()) }, didOpen: { opened.succeed($0) })
      TCPSockets.client(on: loop, timeout: .seconds(Int64(options.connectTimeoutSeconds)))
        .channelInitializer { [tls, tunnel] channel in
          channel.eventLoop.makeCompletedFuture {
            let timeout = TimeAmount.seconds(Int64(options.connectTimeoutSeconds))
            try tls?.secure(channel, to: options.host, within: timeout) { opened.fail($0) }
            guard let tunnel else { return try Self.install(setting, in: channel) }
            try TCPSockets.keepFromChildren(channel)
            try tunnel.connect(
              channel, place, { opened.fail($0) }, TCPLinkHandler.installation(setting))
          }
        }
        .connect(host: options.host, port: options.port)
        // The promise ignores a second result: a failure behind an opened link changes nothing.
        .whenComplete { result in
          if case .failure(let error) = result { opened.fail(error) }
          self.endAttempt()
        }
      do {
        return try await opened.futureResult.get()
      } catch {
        throw .connecting(to: options, failedWith: error)
      }
    }

    /// Serves clients of other protocols at every listener opened from now on.
    ///
    /// Without a setup for them, their connections are closed at the first byte.
    ///
    /// - Parameters:
    ///   - protocols: The protocols that TLS negotiates with clients that ask for one, by
    ///     preference.
    ///   - setUp: Sets up a channel.
    package func serveForeignProtocols(
      negotiating protocols: [String] = [], _ setUp: @escaping ForeignProtocolSetup
    ) {
      state.withLock { $0.foreignSetup = setUp }
      tls?.offer(protocols)
    }

    /// Believes what proxies say about their clients, at every listener opened from now on.
    ///
    /// - Parameter expectsHeader: True when their connections begin with a PROXY header.
    package func trust(_ proxies: TrustedProxies, expectsHeader: Bool) {
      state.withLock { state in
        state.proxies = proxies
        state.expectsProxyHeader = expectsHeader
      }
    }

    /// Relays the clients of every listener opened from now on while another node leads, and
    /// believes what other nodes say about theirs.
    package func relay(over relay: NodeRelay) { state.withLock { $0.relay = relay } }

    /// The proxies that are believed.
    package var trustedProxies: TrustedProxies { state.withLock { $0.proxies } }

    /// Charges what links accepted by later listeners hold of frames that are not whole.
    public func charge(_ budget: MemoryBudget) {
      let load = FrameLoad(limitBytes: options.heldFrameBytes, budget: budget)
      state.withLock { $0.load = load }
    }

    /// Listens at the only address of the options.
    ///
    /// The settings of foreign protocols, proxies, relay and memory are those of this moment;
    /// later changes apply to later listeners.
    ///
    /// - Throws: `invalidOption` for several addresses or a bad certificate, `addressInUse`,
    ///   `cannotListen`, `shutDown`.
    public func listen(
      _ accept: @escaping LinkOpening
    ) async throws(TransportError) -> any TransportListener {
      try checkRunning()
      guard options.alternatives.isEmpty else {
        throw .invalidOption(
          name: "host", reason: "a server listens at one address, not at \(addressCount)")
      }
      try tls?.loadCertificate()
      let setting = setting(accept, didOpen: { _ in })
      let foreignSetup = state.withLock { $0.foreignSetup }
      let connections = connections
      let (proxies, expectsHeader, relay) = state.withLock { state in
        (state.proxies, state.expectsProxyHeader, state.relay)
      }
      let heads = expectsHeader ? proxies : TrustedProxies()
      let bootstrap = TCPSockets.server(
        on: loop, waiting: connections.waitingLimit, perAddress: options.connectionsPerAddress,
        isExempt: { proxies.contains($0) || relay?.isNode(at: $0) == true })
      let bound =
        bootstrap
        .childChannelInitializer { [tls, tunnel] channel in
          channel.eventLoop.makeCompletedFuture {
            let admission = try connections.admit(channel)
            // The order of the handlers is the order in which bytes are unwrapped: the proxy's
            // header, the choice of the node, TLS, a tunnel, the framing.
            let isProxy = heads.contains(channel.remoteAddress?.ipAddress ?? "")
            if isProxy || relay != nil {
              try channel.pipeline.syncOperations.addHandler(
                ProxyHeaderHandler(
                  timeout: setting.preambleTimeout, isProxy: isProxy, relay: relay
                ) { admission.move(to: $0, in: connections) })
            }
            if let relay {
              try channel.pipeline.syncOperations.addHandler(
                RelayGate(relay, timeout: setting.preambleTimeout) { far in
                  (try? connections.admit(far, as: admission.address)) != nil
                })
            }
            try tls?.secure(accepted: channel)
            guard let tunnel else { return try Self.install(setting, foreignSetup, in: channel) }
            try TCPSockets.keepFromChildren(channel)
            try tunnel.accept(channel, TCPLinkHandler.installation(setting))
          }
        }
        .bind(host: options.host, port: options.port)
      do {
        let listening = try await bound.get()
        remember(listening)
        return TCPListener(channel: listening)
      } catch {
        throw .listening(at: options, failedWith: error)
      }
    }

    /// Reads the certificate and its key again. Connections made from now on are secured with them,
    /// those that are open stay as they are.
    ///
    /// - Throws: `TransportError.invalidOption(name:reason:)`; then nothing changes.
    public func reloadCertificate() throws(TransportError) { try tls?.loadCertificate() }

    /// Closes listeners and links, waits for the links to end, and stops the thread.
    ///
    /// Waits `lingerSeconds` at most for peers that do not close. While an attempt to connect
    /// is under way, the thread ends with the last attempt instead, after this has returned.
    public func shutdown() async {
      let (listeners, links, isCalling) = state.withLock { state in
        defer { state.isShutDown = true }
        // An event loop must not end before what it was asked for: the last call ends it.
        return (
          Array(state.listeners.values), Array(state.links.values), state.attempts > 0
        )
      }
      for listener in listeners { try? await listener.close() }
      for link in links { link.close() }
      for link in links { await link.end() }
      guard !isCalling else { return }
      loopExecutor.beginEnd()
      try? await group.shutdownGracefully()
      loopExecutor.end()
    }
  }

  // MARK: - Bookkeeping

  extension TCPTransport {
    /// The table of the connections of clients; one for all listeners, made when it is needed.
    var connections: ConnectionTable {
      state.withLock { state in
        let table = state.connections ?? ConnectionTable.ofProcess()
        state.connections = table
        return table
      }
    }

    /// Counts the connections of clients in a table of less than the descriptors of the process.
    func count(in table: ConnectionTable) { state.withLock { $0.connections = table } }

    /// Returns the settings of one link or of all links of a listener.
    ///
    /// - Parameters:
    ///   - open: Makes the owner of a link.
    ///   - didMeetItself: Called when a socket was connected to itself.
    ///   - didOpen: Called with each new link, after it is remembered.
    func setting(
      _ open: @escaping LinkOpening, didMeetItself: @escaping @Sendable () -> Void = {},
      didOpen: @escaping @Sendable (TCPLink) -> Void
    ) -> TCPLinkHandler.Setting {
      TCPLinkHandler.Setting(
        limit: limit, load: state.withLock { $0.load }, isSecured: tls != nil || tunnel != nil,
        preambleTimeout: .seconds(Int64(options.preambleTimeoutSeconds)),
        linger: .seconds(Int64(options.lingerSeconds)),
        open: open,
        // Weak: a link that outlives its transport must not keep the thread's owner alive.
        didOpen: { [weak self] link in
          self?.state.withLock { $0.links[ObjectIdentifier(link)] = link }
          didOpen(link)
        },
        didMeetItself: didMeetItself,
        didEnd: { [weak self] link in
          _ = self?.state.withLock { $0.links.removeValue(forKey: ObjectIdentifier(link)) }
        })
    }

    /// Adds the handlers of a bare connection: those that look at the first bytes where other
    /// protocols are served, the link's handler at once elsewhere.
    private static func install(
      _ setting: TCPLinkHandler.Setting, _ foreignSetup: ForeignProtocolSetup? = nil,
      in channel: any Channel
    ) throws {
      try TCPSockets.keepFromChildren(channel)
      let pipeline = channel.pipeline.syncOperations
      if let foreignSetup {
        try pipeline.addHandler(FirstBytesHandler(setting, foreignSetup: foreignSetup))
      } else {
        try pipeline.addHandler(TCPLinkHandler(setting))
      }
    }

    /// Keeps a listener until it is closed, by its owner or by ``shutdown()``.
    private func remember(_ listener: any Channel) {
      let id = ObjectIdentifier(listener)
      state.withLock { $0.listeners[id] = listener }
      listener.closeFuture.whenComplete { [weak self] _ in
        _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
      }
    }

    /// Keeps the loop until ``endAttempt()``.
    ///
    /// - Throws: `shutDown`; then no end is to be called.
    func beginAttempt() throws(TransportError) {
      let isRunning = state.withLock { state in
        if !state.isShutDown { state.attempts += 1 }
        return !state.isShutDown
      }
      if !isRunning { throw .shutDown }
    }

    /// Counts an attempt out. The last one after ``shutdown()`` stops the thread.
    func endAttempt() {
      let mustEnd = state.withLock { state in
        state.attempts -= 1
        return state.isShutDown && state.attempts == 0
      }
      guard mustEnd else { return }
      loopExecutor.beginEnd()
      group.shutdownGracefully { [loopExecutor] _ in loopExecutor.end() }
    }

    private func checkRunning() throws(TransportError) {
      if state.withLock({ $0.isShutDown }) { throw .shutDown }
    }
  }

  /// The listening socket of a transport.
  private struct TCPListener: TransportListener {
    let channel: any Channel

    var address: String {
      let local = channel.localAddress
      return "\(local?.ipAddress ?? "unknown"):\(local?.port ?? 0)"
    }

    func close() async {
      try? await channel.close()
    }
  }
#endif
