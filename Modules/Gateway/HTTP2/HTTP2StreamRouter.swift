#if TCP
  import NIOCore
  import NIOHPACK
  import NIOHTTP2

  /// Looks at the head of a stream's request, puts the handlers in place that answer it, and steps
  /// aside: gRPC by its content type, everything else as over HTTP/1.1.
  final class HTTP2StreamRouter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let connection: HTTP2Connection
    private var isDecided = false

    init(_ connection: HTTP2Connection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let payload = unwrapInboundIn(data)
      guard !isDecided, case .headers(let headers) = payload else {
        return context.fireChannelRead(data)
      }
      guard connection.admit(context.channel) else {
        isDecided = true
        return context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
      }
      let pipeline = context.pipeline.syncOperations
      do {
        if GRPCRequestHead.isGRPC(headers.headers) {
          try pipeline.addHandler(GRPCCallHandler(connection))
        } else {
          try pipeline.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
          try pipeline.addHandler(HTTPHandler(connection.setting))
        }
      } catch {
        return context.close(promise: nil)
      }
      isDecided = true
      context.fireChannelRead(data)
      pipeline.removeHandler(self, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if isDecided { return context.fireErrorCaught(error) }
      context.close(promise: nil)
    }
  }
#endif
