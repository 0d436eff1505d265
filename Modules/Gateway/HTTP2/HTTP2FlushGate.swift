#if TCP
  import NIOCore

  /// Lets what all streams of a connection flush in one turn of the loop leave together: a batch of
  /// the server answers many calls, and each flushes by itself.
  ///
  /// Before the handler of HTTP/2, next to the socket or to TLS.
  final class HTTP2FlushGate: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var isPending = false

    func flush(context: ChannelHandlerContext) {
      if exchange(&isPending, with: true) { return }
      let (gate, place) = (NIOLoopBound(self, eventLoop: context.eventLoop), context.loopBound)
      // Behind the flushes of other streams that wait for the loop already.
      context.eventLoop.execute { gate.value.open(place.value) }
    }

    private func open(_ context: ChannelHandlerContext) {
      if exchange(&isPending, with: false) { context.flush() }
    }

    /// Closes behind all that was flushed before.
    func close(
      context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
      open(context)
      context.close(mode: mode, promise: promise)
    }
  }
#endif
