#if TCP
  import NIOCore

  /// Lets what all streams of a connection flush in one turn of the loop leave together.
  ///
  /// Before the handler of HTTP/2, next to the socket or to TLS.
  final class HTTP2FlushGate: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// True when a flush was asked for and not performed.
    private var isPending = false
    /// True between ``hold()`` and ``release()``.
    private var isHeld = false
    private var place: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { place = context }

    func handlerRemoved(context: ChannelHandlerContext) { place = nil }

    /// Takes a flush, which is performed behind the work that waits for the loop already.
    func flush(context: ChannelHandlerContext) {
      if exchange(&isPending, with: true) || isHeld { return }
      let gate = NIOLoopBound(self, eventLoop: context.eventLoop)
      // Behind the flushes of other streams that wait for the loop already.
      context.eventLoop.execute { gate.value.open() }
    }

    /// Flushes if anything asked for it.
    private func open() {
      if exchange(&isPending, with: false) { place?.flush() }
    }

    /// Lets flushes wait for ``release()``, in the same turn of the loop.
    func hold() { isHeld = true }

    /// Flushes all that was held.
    func release() {
      isHeld = false
      open()
    }

    /// Closes behind all that was flushed before.
    func close(
      context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
      open()
      context.close(mode: mode, promise: promise)
    }
  }
#endif
