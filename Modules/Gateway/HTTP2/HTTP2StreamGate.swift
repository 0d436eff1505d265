#if TCP
  import NIOCore

  /// Lets the streams of a connection that resets them begin a few at a time, so that one read of
  /// a client that opens and resets hundreds does not hold up all others.
  ///
  /// A connection that is alone with such a read goes on in the next turn of the loop; where many
  /// have one, each waits for its turn among them, and a part of the loop's time is left to others.
  /// Before the handler of HTTP/2. Nothing more is read of the socket meanwhile.
  final class HTTP2StreamGate: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = Never

    /// The most streams that begin at once on a connection that resets its streams.
    static let share = 8
    /// The pause between two shares of a connection, in microseconds, for each other one that
    /// waits: more than a share takes.
    private static let pausePerOther: Int64 = 1_600
    /// The pause of a connection that is alone, in microseconds: the loop looks at its sockets.
    private static let leastPause: Int64 = 100

    private let connection: HTTP2Connection
    private var cuts: HTTP2FrameCuts
    /// Bytes that wait for the next share.
    private var held = ByteBuffer()
    /// True when a read was held back while bytes wait.
    private var isReadPending = false
    /// True when the end of the input was held back: it comes behind the bytes.
    private var isInputClosed = false
    /// The next share; `nil` while nothing waits.
    private var next: Scheduled<Void>?

    init(_ connection: HTTP2Connection) {
      self.connection = connection
      cuts = HTTP2FrameCuts(most: connection.limits.http2.streams, fewest: Self.share)
    }

    private var load: GatewayLoad { connection.setting.load }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var bytes = unwrapInboundIn(data)
      if next != nil {
        held.writeBuffer(&bytes)
        return
      }
      held = bytes
      pass(context)
    }

    func read(context: ChannelHandlerContext) {
      if next == nil { context.read() } else { isReadPending = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if next != nil, event as? ChannelEvent == .inputClosed {
        isInputClosed = true
      } else {
        context.fireUserInboundEventTriggered(event)
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      stop()
      context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    /// Drops what waits: the connection is gone.
    private func stop() {
      if let waiting = exchange(&next, with: nil) {
        waiting.cancel()
        load.endHolding()
      }
      held = ByteBuffer()
    }

    /// Passes on what begins a share of streams, and keeps the rest.
    private func pass(_ context: ChannelHandlerContext) {
      let count = cuts.prefix(of: held.readableBytesView)
      if count == held.readableBytes {
        return context.fireChannelRead(wrapInboundOut(exchange(&held, with: ByteBuffer())))
      }
      // Asked for before anything is passed on: what is passed on may end the connection.
      let others = load.beginHolding()
      let pause = Self.leastPause + Int64(others) * Self.pausePerOther
      next = context.eventLoop.assumeIsolated().scheduleTask(in: .microseconds(pause)) {
        self.goOn(context)
      }
      guard count > 0, let first = held.readSlice(length: count) else { return }
      context.fireChannelRead(wrapInboundOut(first))
    }

    /// Passes the next share on, and what was held back behind the last one.
    private func goOn(_ context: ChannelHandlerContext) {
      next = nil
      load.endHolding()
      if connection.isClosing { held = ByteBuffer() } else { pass(context) }
      context.fireChannelReadComplete()
      guard next == nil else { return }
      if exchange(&isInputClosed, with: false) {
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      }
      if exchange(&isReadPending, with: false) { context.read() }
    }
  }
#endif
