#if TCP
  package import NIOCore
  package import TernTransport

  /// Sets up the channel of a client that does not speak this framing, on its event loop.
  ///
  /// Bytes that have arrived are read after it returns. Links that the client opens are handed to
  /// the opening; a tunnel for this framing is handed to the installation.
  package typealias ForeignProtocolSetup =
    @Sendable (any Channel, @escaping LinkOpening, @escaping LinkInstallation) throws -> Void

  /// Holds a new connection until its first bytes tell what it speaks, then steps aside.
  ///
  /// It swallows `channelActive` and fires it again for the handlers it adds, so those see a
  /// connection that has just opened. A client that stays silent is closed at the limit for the
  /// preamble.
  final class FirstBytesHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let setting: TCPLinkHandler.Setting
    private let foreignSetup: ForeignProtocolSetup
    /// The bytes so far; at most three while undecided.
    private var waiting = ByteBuffer()
    private var timer: Scheduled<Void>?
    /// True once the handlers behind are installed. The removal of this handler may take effect
    /// later; bytes that arrive in between pass through.
    private var isDecided = false

    init(_ setting: TCPLinkHandler.Setting, foreignSetup: @escaping ForeignProtocolSetup) {
      self.setting = setting
      self.foreignSetup = foreignSetup
    }

    func channelActive(context: ChannelHandlerContext) {
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: setting.preambleTimeout) {
        context.close(promise: nil)
      }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if isDecided { return context.fireChannelRead(data) }
      var bytes = unwrapInboundIn(data)
      waiting.writeBuffer(&bytes)
      let pipeline = context.pipeline.syncOperations
      do {
        switch FirstBytes(waiting.readableBytesView) {
        case .undecided: return
        case .framed:
          try pipeline.addHandler(TCPLinkHandler(setting), position: .after(self))
        case .foreign:
          // Other protocols tell by their own fields whether a client is of this machine, and would
          // take the address for it; and they know nothing of shards.
          if ProxiedPeer.isLink(context.channel) { return context.close(promise: nil) }
          try foreignSetup(
            context.channel, setting.open, TCPLinkHandler.installation(setting))
        }
      } catch {
        return context.close(promise: nil)
      }
      // Activity first, then the bytes: a link sends its preamble when it becomes active.
      isDecided = true
      timer?.cancel()
      context.fireChannelActive()
      context.fireChannelRead(wrapInboundOut(exchange(&waiting, with: ByteBuffer())))
      pipeline.removeHandler(self, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      context.fireChannelInactive()
    }
  }
#endif
