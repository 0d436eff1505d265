#if TCP
  import NIOCore
  import NIOHPACK
  import NIOHTTP2
  import TernServer
  import TernTransport
  import TernTransportTCP

  /// One connection of HTTP/2: its sessions with the server, and what stops and resumes them. On
  /// the connection's event loop.
  final class HTTP2Connection {
    let setting: GatewayContext
    let address: String
    /// The other end, in the form of links: `127.0.0.1:50412`.
    let peer: String
    private let channel: any Channel
    /// The session of callers on this machine, and that of others. Keyed by ``Caller/isLocal``:
    /// calls of both kinds may share a connection, and have different rights.
    private var sessions: [Bool: DocumentGatewaySession] = [:]
    /// The host of the last request that told nothing else of its origin, and its session.
    private var recent: (host: String, session: DocumentGatewaySession)?
    /// The open calls of gRPC.
    private var calls: [ObjectIdentifier: GRPCCallHandler] = [:]
    /// The calls with something to flush.
    private var flushing: [GRPCCallHandler] = []
    private let gate = HTTP2FlushGate()
    private(set) var isReading = true
    /// True once the server has closed a session under its calls: `GOAWAY` was sent.
    private var isDraining = false
    /// True when nothing more that comes is looked at.
    private(set) var isClosing = false
    /// Bytes received since reading was stopped. Beyond the window of the connection, the socket is
    /// not read either.
    private var unreadBytes = 0
    /// Counts reads of the socket. ``HTTP2Keepalive`` compares it to see if anything came.
    private(set) var reads: UInt64 = 0

    private init(_ setting: GatewayContext, _ channel: any Channel) {
      self.setting = setting
      self.channel = channel
      let other = ProxiedPeer.of(channel)
      address = other?.address ?? channel.remoteAddress?.ipAddress ?? "unknown"
      peer = "\(address):\(other?.port ?? channel.remoteAddress?.port ?? 0)"
    }

    var limits: GatewayLimits { setting.options.limits }

    /// Sets up a channel for HTTP/2.
    ///
    /// The order of handlers, from the socket: flush gate, meter, stream gate, HTTP/2 with its
    /// management, keep-alive, errors. Each stream begins with a ``GRPCCallHandler``.
    ///
    /// - Throws: When there are too many connections, or no memory for one; the channel is to
    ///   be closed.
    static func install(_ setting: GatewayContext, in channel: any Channel) throws {
      let load = setting.load
      let limits = setting.options.limits
      let connection = HTTP2Connection(setting, channel)
      let address = connection.address
      let isProxy = setting.proxies.contains(address)
      guard load.enter(address, limit: limits.connections, isProxy: isProxy) else {
        throw TooManyConnections()
      }
      let isCharged = load.budget.charge(connectionBytes, .connections, to: address)
      let bound = NIOLoopBound(connection, eventLoop: channel.eventLoop)
      channel.closeFuture.whenComplete { _ in
        load.leave(address)
        if isCharged { load.budget.release(connectionBytes, .connections, of: address) }
        bound.value.end()
      }
      guard isCharged else { throw TooManyConnections() }
      let management = NIOHTTP2ServerConnectionManagementHandler(
        eventLoop: channel.eventLoop,
        configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(connection.gate)
      try pipeline.addHandler(HTTP2InboundMeter(connection))
      try pipeline.addHandler(HTTP2StreamGate(connection))
      _ = try pipeline.configureHTTP2Pipeline(
        mode: .server, connectionConfiguration: connectionConfiguration(limits),
        streamConfiguration: streamConfiguration(limits),
        streamDelegate: management.http2StreamDelegate
      ) { stream in
        stream.eventLoop.makeCompletedFuture {
          try stream.pipeline.syncOperations.addHandler(GRPCCallHandler(bound.value))
        }
      }
      try pipeline.addHandler(management)
      try pipeline.addHandler(HTTP2Keepalive(connection))
      try pipeline.addHandler(HTTP2ErrorHandler(connection))
    }

    private struct TooManyConnections: Error {}

    /// The memory of a connection without streams: mostly tables of header compression, and of the
    /// times of frames that are counted.
    private static let connectionBytes = 32 << 10
    /// The memory of a stream whose call does nothing.
    private static let streamBytes = 4 << 10

    /// Charges a stream until its channel closes.
    ///
    /// - Returns: `false`, and nothing is charged, when the client may hold no more.
    func admit(_ stream: any Channel) -> Bool {
      let (budget, address) = (setting.load.budget, address)
      guard budget.charge(Self.streamBytes, .connections, to: address) else { return false }
      stream.closeFuture.whenComplete { _ in
        budget.release(Self.streamBytes, .connections, of: address)
      }
      return true
    }

    /// Returns the settings that are sent to the client, and the limits on floods of control
    /// frames.
    private static func connectionConfiguration(
      _ limits: GatewayLimits
    ) -> NIOHTTP2Handler.ConnectionConfiguration {
      var configuration = NIOHTTP2Handler.ConnectionConfiguration()
      configuration.initialSettings = [
        HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.http2.streams),
        HTTP2Setting(parameter: .initialWindowSize, value: limits.http2.streamWindowBytes),
        HTTP2Setting(parameter: .maxHeaderListSize, value: limits.headBytes),
      ]
      configuration.targetWindowSize = limits.http2.connectionWindowBytes
      configuration.controlFrameRateLimit.maximumCount = limits.http2.controlFrames
      configuration.maximumBufferedControlFrames = 2 * limits.http2.controlFrames
      return configuration
    }

    /// Returns the windows and buffers of streams, and the limit on resets (the attack named
    /// rapid reset, CVE-2023-44487).
    private static func streamConfiguration(
      _ limits: GatewayLimits
    ) -> NIOHTTP2Handler.StreamConfiguration {
      var configuration = NIOHTTP2Handler.StreamConfiguration()
      configuration.targetWindowSize = limits.http2.streamWindowBytes
      configuration.outboundBufferSizeHighWatermark = 64 << 10
      configuration.outboundBufferSizeLowWatermark = 16 << 10
      configuration.streamResetFrameRateLimit.maximumCount = limits.http2.resets
      return configuration
    }
  }

  // MARK: - Calls

  extension HTTP2Connection {
    /// The session for a request.
    ///
    /// Most requests carry no field about their origin; for them, the last host's session is
    /// found without a look at the rest.
    func session(for headers: HPACKHeaders) -> DocumentGatewaySession {
      let host = headers.first(name: ":authority") ?? ""
      let origin = headers.filter { Caller.isField($0.name) }
      if origin.isEmpty, let recent, recent.host == host { return recent.session }
      let session = session(for: caller(host, origin.map { ($0.name, $0.value) }))
      if origin.isEmpty { recent = (host, session) }
      return session
    }

    /// Returns the session for local callers or that for others, which is opened at its first use.
    private func session(for caller: Caller) -> DocumentGatewaySession {
      if let known = sessions[caller.isLocal] { return known }
      let new = DocumentGatewaySession(
        peer: caller.peer, address: address, protocolName: "grpc", setting,
        on: channel.eventLoop)
      new.onReading = { [weak self] in self?.setReading($0) }
      new.onClosure = { [weak self] in self?.drain() }
      sessions[caller.isLocal] = new
      return new
    }

    /// - Parameter origin: The fields that tell the origin of the request.
    private func caller(_ host: String, _ origin: [(name: String, value: String)]) -> Caller {
      let fields = HTTPFields([("host", host)] + origin)
      let request = HTTPRequest(method: "POST", target: "/", headers: fields, peer: peer)
      return Caller(request, RequestTarget.root, behind: setting.proxies)
    }

    /// Remembers an open call, which is stopped and resumed with the others.
    func add(_ call: GRPCCallHandler) { calls[ObjectIdentifier(call)] = call }

    func remove(_ call: GRPCCallHandler) { calls[ObjectIdentifier(call)] = nil }

    /// Flushes a call together with all others that write in this turn of the loop: a batch of the
    /// server answers many.
    func flushSoon(_ call: GRPCCallHandler) {
      flushing.append(call)
      if flushing.count > 1 { return }
      let connection = NIOLoopBound(self, eventLoop: channel.eventLoop)
      channel.eventLoop.execute { connection.value.flush() }
    }

    /// Flushes all calls with output, then the socket once.
    private func flush() {
      gate.hold()
      for call in exchange(&flushing, with: []) { call.flush() }
      gate.release()
    }

    /// Lets the calls end, and then the connection: the server has closed a session that had
    /// calls. New calls are to be made on a new connection.
    private func drain() {
      if exchange(&isDraining, with: true) { return }
      // The management handler sends `GOAWAY`, and closes when no stream is left.
      channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      let channel = channel
      channel.eventLoop.scheduleTask(in: .seconds(Int64(limits.http2.drainSeconds))) {
        channel.close(promise: nil)
      }
    }

    /// Closes the connection behind the farewell of an error; what still comes is dropped.
    fileprivate func closeBehindFarewell() {
      if exchange(&isClosing, with: true) { return }
      end()
      HalfClose.setReading(true, channel)
      let channel = channel
      // Behind the `GOAWAY` that the library flushes in this turn.
      channel.eventLoop.execute { channel.close(mode: .output, promise: nil) }
      channel.eventLoop.scheduleTask(in: .seconds(Int64(limits.lingerSeconds))) {
        channel.close(promise: nil)
      }
    }

    /// Ends what the connection held, when it has closed.
    private func end() {
      for session in sessions.values { session.end(.closedByPeer) }
      sessions = [:]
      recent = nil
      calls = [:]
    }
  }

  // MARK: - Reading

  extension HTTP2Connection {
    /// Stops or resumes what calls send. Answers go on: their flow control must be read.
    private func setReading(_ isOn: Bool) {
      guard isOn != isReading else { return }
      isReading = isOn
      for call in calls.values { call.setReading(isOn) }
      if isOn {
        unreadBytes = 0
        HalfClose.setReading(true, channel)
      }
    }

    /// Counts bytes of the socket. While calls are not read, more than the window of a connection
    /// can only be data that is not wanted: the socket is not read either.
    func count(_ bytes: Int) {
      reads &+= 1
      if isReading { return }
      unreadBytes += bytes
      if unreadBytes > limits.http2.connectionWindowBytes {
        HalfClose.setReading(false, channel)
      }
    }
  }

  /// Tells a connection how much has arrived for it.
  private final class HTTP2InboundMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: HTTP2Connection

    init(_ connection: HTTP2Connection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if connection.isClosing { return }
      connection.count(unwrapInboundIn(data).readableBytes)
      context.fireChannelRead(data)
    }
  }

  /// Closes a connection whose client breaks the rules of HTTP/2. It has been sent `GOAWAY`.
  private final class HTTP2ErrorHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let connection: HTTP2Connection

    init(_ connection: HTTP2Connection) { self.connection = connection }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      switch error {
      // Errors of one stream, which was reset.
      case is NIOHTTP2Errors.StreamError, is NIOHTTP2Errors.NoSuchStream,
        is NIOHTTP2Errors.StreamClosed, is NIOHTTP2Errors.MaxStreamsViolation:
        break
      default: connection.closeBehindFarewell()
      }
    }
  }
#endif
