#if TCP
  import NIOCore

  /// Holds a new connection until its first bytes tell the version of HTTP, then steps aside.
  ///
  /// Clients of gRPC without TLS begin with the preface of HTTP/2, and with TLS all that have
  /// negotiated `h2`. Source: RFC 9113, section 3.4.
  final class HTTPVersionDetector: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The bytes that tell the preface from every method of HTTP/1.1.
    private static let mark = Array("PRI ".utf8)

    private let setting: GatewayContext
    /// The bytes so far; at most three while undecided.
    private var waiting = ByteBuffer()
    /// Closes a connection that does not tell its version in time.
    private var timer: Scheduled<Void>?
    private var isDecided = false

    init(_ setting: GatewayContext) { self.setting = setting }

    func handlerAdded(context: ChannelHandlerContext) {
      let time = TimeAmount.seconds(Int64(setting.options.limits.headSeconds))
      let channel = context.channel
      timer = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if isDecided { return context.fireChannelRead(data) }
      var bytes = unwrapInboundIn(data)
      waiting.writeBuffer(&bytes)
      // No method of HTTP/1.1 that is served begins with `PRI `, so four bytes are enough.
      let start = waiting.readableBytesView.prefix(Self.mark.count)
      let isPreface = Self.mark.starts(with: start)
      if isPreface, start.count < Self.mark.count { return }
      do {
        if isPreface {
          try HTTP2Connection.install(setting, in: context.channel)
        } else {
          try Gateway.installHTTP1(setting, in: context.channel)
        }
      } catch {
        return context.close(promise: nil)
      }
      isDecided = true
      timer?.cancel()
      context.fireChannelRead(wrapInboundOut(exchange(&waiting, with: ByteBuffer())))
      context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
  }
#endif
