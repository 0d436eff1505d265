#if TCP
  import NIOCore
  import NIOPosix

  /// Holds a new connection until its first bytes are there. Then it lets the handlers behind it
  /// serve the client, or, where another node leads, relays all bytes to that one. While none leads
  /// or the leader cannot be reached, a connection waits for a while: a takeover costs its client
  /// that time and no attempt.
  ///
  /// Without TLS, the pages that tell the state of the node are its own at every node. The bytes of
  /// TLS are not looked into.
  final class RelayGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Phase {
      case waiting
      /// No node is known to lead.
      case held
      case connecting
      /// The handlers behind it have the connection: those of the server, or ``RelayEnd``.
      case open
      case closed
    }

    /// Tells the place where clients are served, and counts.
    private let relay: NodeRelay
    /// The time limit for the first bytes of the client.
    private let timeout: TimeAmount
    /// Counts the second descriptor of a relayed connection; `false` when there is none left.
    private let enter: (any Channel) -> Bool
    private var phase = Phase.waiting
    /// The bytes of the client until the decision, in their order.
    private var waiting = ByteBuffer()
    /// True when the client sends nothing more.
    private var hasEnded = false
    private var timer: Scheduled<Void>?
    /// The moment at which this connection began to wait; `nil` until it does. How long it may, the
    /// reason of the moment says.
    private var heldSince: NIODeadline?

    init(_ relay: NodeRelay, timeout: TimeAmount, enter: @escaping (any Channel) -> Bool) {
      self.relay = relay
      self.timeout = timeout
      self.enter = enter
    }

    func channelActive(context: ChannelHandlerContext) {
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
        context.close(promise: nil)
      }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch phase {
      case .open: return context.fireChannelRead(data)
      case .closed: return
      case .waiting, .held, .connecting: break
      }
      var bytes = unwrapInboundIn(data)
      waiting.writeBuffer(&bytes)
      guard phase == .waiting, let isOperators = Self.isOperators(waiting.readableBytesView) else {
        return
      }
      timer?.cancel()
      if isOperators { serve(context) } else { decide(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      if phase == .open { context.fireChannelReadComplete() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if phase == .open { return context.fireUserInboundEventTriggered(event) }
      // A client may end its requests at once and wait for the answers.
      if case .inputClosed? = event as? ChannelEvent { hasEnded = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      if phase == .open { context.fireChannelWritabilityChanged() }
    }

    /// Handles the end of the connection. Handlers behind the gate are told of it only if they
    /// were told of the beginning.
    func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      letGo()
      let wasOpen = phase == .open
      phase = .closed
      if wasOpen { context.fireChannelInactive() }
    }

    /// Closes the connection on an error before the decision; later errors go to the handlers
    /// behind.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if phase == .open { return context.fireErrorCaught(error) }
      context.close(promise: nil)
    }

    /// The beginnings of requests for pages that tell the state of the node itself.
    private static let ownPages = ["GET", "HEAD"].flatMap { method in
      ["healthz", "readyz", "metrics"].map { Array("\(method) /-/\($0)".utf8) }
    }

    /// Returns true for requests about the node itself; `nil` while too few bytes are there.
    static func isOperators(_ bytes: some Collection<UInt8>) -> Bool? {
      let possible = ownPages.filter { page in zip(bytes, page).allSatisfy { $0 == $1 } }
      if possible.contains(where: { bytes.count >= $0.count }) { return true }
      return possible.isEmpty ? false : nil
    }
  }

  extension RelayGate {
    /// Serves the connection here, relays it, or lets it wait, as the place says at this moment.
    private func decide(_ context: ChannelHandlerContext) {
      switch relay.setting.place() {
      case .here: serve(context)
      // The other node believes that this one leads, and it may be about to. Passed on once more,
      // the connection could go in circles.
      case .copy where ProxiedPeer.isRelayed(context.channel):
        hold(context, for: min(relay.patience, relay.copyHold))
      case .copy: serve(context)
      case .node(let leader): begin(to: leader, context)
      case .unknown: hold(context)
      }
    }

    /// Looks again in a moment, or when the relay is told of a change. When the time is over, the
    /// server here says why it serves none.
    ///
    /// - Parameters:
    ///   - time: The longest time to wait; `nil` for the relay's ``NodeRelay/patience``.
    ///   - pause: The time until the next look, in milliseconds; `nil` for the relay's.
    private func hold(
      _ context: ChannelHandlerContext, for time: Duration? = nil, pause: Int64? = nil
    ) {
      let pause = pause ?? relay.lookMilliseconds
      guard let heldSince else {
        let client = client(of: context.channel)?.address ?? "unknown"
        guard relay.hold(ObjectIdentifier(self), for: client, looking(context)) else {
          return close(context, \.refused)
        }
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        try? context.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
        heldSince = .now()
        return lookLater(context, pause)
      }
      if NIODeadline.now() < heldSince + TimeAmount(time ?? relay.patience) {
        return lookLater(context, pause)
      }
      switch relay.setting.place() {
      case .unknown: serve(context)
      case .copy: close(context, \.repeated)
      case .here, .node: close(context, \.unreachable)
      }
    }

    private func lookLater(_ context: ChannelHandlerContext, _ pause: Int64) {
      phase = .held
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(pause)) {
        if self.phase == .held { self.decide(context) }
      }
    }

    private func looking(_ context: ChannelHandlerContext) -> @Sendable () -> Void {
      let gate = NIOLoopBound(self, eventLoop: context.eventLoop)
      let (loop, place) = (context.eventLoop, context.loopBound)
      return {
        loop.execute {
          guard gate.value.phase == .held else { return }
          gate.value.timer?.cancel()
          gate.value.decide(place.value)
        }
      }
    }

    private func letGo() {
      if exchange(&heldSince, with: nil) != nil { relay.letGo(ObjectIdentifier(self)) }
    }

    /// Hands the connection to the handlers behind, with its first bytes.
    private func serve(_ context: ChannelHandlerContext) {
      let wasHeld = heldSince != nil
      letGo()
      phase = .open
      context.fireChannelActive()
      context.fireChannelRead(wrapInboundOut(takeWaiting()))
      guard wasHeld else { return }
      // The read that brought these bytes was over long ago.
      context.fireChannelReadComplete()
      try? context.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
      if hasEnded { return context.close(promise: nil) }
      try? context.channel.syncOptions?.setOption(.autoRead, value: true)
    }

    private func takeWaiting() -> ByteBuffer {
      defer { waiting = ByteBuffer() }
      return waiting
    }

    private func begin(to leader: String, _ context: ChannelHandlerContext) {
      let channel = context.channel
      guard !ProxiedPeer.isRelayed(channel) else { return close(context, \.repeated) }
      guard let address = TCPAddress(withPort: leader), let client = client(of: channel),
        let header = relay.header(for: client, to: leader)
      else { return close(context, \.unreachable) }
      guard relay.begin(channel, for: client.address) else { return close(context, \.refused) }
      phase = .connecting
      // From here on, reading follows what the other end takes.
      try? channel.syncOptions?.setOption(.autoRead, value: false)
      try? channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
      let far = RelayEnd(isLeader: true)
      let place = context.loopBound
      let gate = NIOLoopBound(self, eventLoop: context.eventLoop)
      let end = NIOLoopBound(far, eventLoop: context.eventLoop)
      TCPSockets.upstream(on: context.eventLoop, timeout: .seconds(RelayLimits.connectSeconds))
        .channelOption(.autoRead, value: false)
        .channelOption(.allowRemoteHalfClosure, value: true)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try TCPSockets.keepFromChildren(channel)
            try channel.pipeline.syncOperations.addHandler(end.value)
          }
        }
        .connect(host: address.host, port: address.port)
        .assumeIsolated()
        .whenComplete { result in
          gate.value.connected(result, end.value, header, place.value)
        }
    }

    /// The client of a connection: the one that a proxy has named, or the other end itself.
    private func client(of channel: any Channel) -> ProxyHeader.Client? {
      if let (address, port) = ProxiedPeer.of(channel) {
        return ProxyHeader.Client(address: address, port: port)
      }
      return channel.remoteAddress.flatMap { remote in
        remote.ipAddress.map { ProxyHeader.Client(address: $0, port: remote.port ?? 0) }
      }
    }

    private func connected(
      _ result: Result<any Channel, any Error>, _ far: RelayEnd, _ header: [UInt8],
      _ context: ChannelHandlerContext
    ) {
      switch result {
      case .failure:
        guard phase == .connecting else { return }
        // The leader has died, perhaps, and another node will take over.
        relay.end(context.channel)
        hold(context, pause: RelayLimits.retryMilliseconds)
      case .success(let channel):
        // A leader that has this node's address is a mistake of the configuration.
        guard phase == .connecting, channel.localAddress != channel.remoteAddress else {
          channel.close(promise: nil)
          return close(context, \.unreachable)
        }
        guard enter(channel) else {
          channel.close(promise: nil)
          return close(context, \.refused)
        }
        join(far, header, context)
      }
    }

    /// Connects the two ends and sends the header with the client's first bytes to the leader.
    private func join(_ far: RelayEnd, _ header: [UInt8], _ context: ChannelHandlerContext) {
      let near = RelayEnd(isLeader: false)
      do { try context.pipeline.syncOperations.addHandler(near, position: .after(self)) } catch {
        far.close()
        return close(context, \.unreachable)
      }
      relay.count(\.relayed)
      letGo()
      phase = .open
      near.other = far
      far.other = near
      var first = context.channel.allocator.buffer(
        capacity: header.count + waiting.readableBytes)
      first.writeBytes(header)
      var rest = takeWaiting()
      first.writeBuffer(&rest)
      far.write(first)
      far.flush()
      if hasEnded { far.endOutput() } else { near.read() }
      far.read()
    }

    private func close(
      _ context: ChannelHandlerContext, _ figure: WritableKeyPath<NodeRelay.Figures, Int>
    ) {
      if phase != .closed { relay.count(figure) }
      letGo()
      phase = .closed
      context.close(promise: nil)
    }
  }

  /// One end of a relayed connection: what arrives here is sent at the other end, and no more is
  /// read than that one takes.
  final class RelayEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The other end; both ends let go of each other when one is removed.
    var other: RelayEnd?
    private var context: ChannelHandlerContext?
    private let isLeader: Bool
    private var isPaused = false
    private var hasEnded = false
    private var timer: Scheduled<Void>?

    /// - Parameter isLeader: True for the end at the node that leads.
    init(isLeader: Bool) { self.isLeader = isLeader }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
      timer?.cancel()
      self.context = nil
      other = nil
    }

    func channelActive(context: ChannelHandlerContext) {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      other?.write(unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      guard let other else { return }
      other.flush()
      if other.isWritable { context.read() } else { isPaused = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      if context.channel.isWritable { other?.resume() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard case .inputClosed? = event as? ChannelEvent else { return }
      // A client may end its requests and wait for the answers. A leader that has ended is done.
      if isLeader { other?.finish() } else { other?.endOutput() }
    }

    func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      other?.finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

    /// Asks for what has arrived; nothing is read otherwise.
    func read() { context?.read() }

    func write(_ bytes: ByteBuffer) { context?.write(wrapOutboundOut(bytes), promise: nil) }

    func flush() { context?.flush() }

    func close() { context?.close(promise: nil) }

    private var isWritable: Bool { context?.channel.isWritable ?? false }

    private func resume() {
      guard isPaused else { return }
      isPaused = false
      context?.read()
    }

    /// Ends the output behind what is written; input goes on.
    func endOutput() {
      guard let context, !hasEnded else { return }
      hasEnded = true
      // An empty write is over when all before it are.
      let written = context.eventLoop.makePromise(of: Void.self)
      context.writeAndFlush(
        wrapOutboundOut(context.channel.allocator.buffer(capacity: 0)), promise: written)
      written.futureResult.assumeIsolated().whenComplete { _ in
        context.close(mode: .output, promise: nil)
      }
    }

    /// Ends the output, and the connection when its reader has taken what is written or has had
    /// its time.
    private func finish() {
      guard let context, timer == nil else { return }
      timer = context.eventLoop.assumeIsolated().scheduleTask(
        in: .seconds(RelayLimits.lingerSeconds)
      ) { context.close(promise: nil) }
      endOutput()
    }
  }
#endif
