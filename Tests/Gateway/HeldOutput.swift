#if TCP
  import NIOCore
  import NIOEmbedded

  /// The socket of a client that reads nothing until a test says so.
  final class HeldOutput: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var held: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    private var place: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { place = context }

    func handlerRemoved(context: ChannelHandlerContext) {
      place = nil
      for entry in held { entry.promise?.fail(ChannelError.ioOnClosedChannel) }
      held = []
    }

    func write(
      context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
      held.append((unwrapOutboundIn(data), promise))
    }

    func flush(context: ChannelHandlerContext) {}

    /// Lets everything leave.
    func release() {
      let all = held
      held = []
      for entry in all { place?.write(wrapOutboundOut(entry.bytes), promise: entry.promise) }
      place?.flush()
    }
  }

  extension ChannelConnection {
    /// Reads nothing from now on.
    func holdOutput() throws -> HeldOutput {
      let output = HeldOutput()
      try channel.pipeline.syncOperations.addHandler(output, position: .first)
      return output
    }
  }
#endif
