#if TCP
  import NIOCore
  import NIOPosix

  /// Connections over WebSocket that were greeted, and then say nothing.
  struct IdleSockets {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let port: Int

    /// Opens `count` of them, one after the other, and returns when each was greeted.
    func open(_ count: Int) async throws {
      for _ in 0..<count {
        let greeted = group.next().makePromise(of: Void.self)
        let channel = try await ClientBootstrap(group: group)
          .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.addHandler(IdleSocketHandler(greeted))
            }
          }
          .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(ByteBuffer(bytes: WebSocketBytes.upgrade))
        try await greeted.futureResult.get()
      }
    }

    func close() async throws { try await group.shutdownGracefully() }
  }

  private final class IdleSocketHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let greeted: EventLoopPromise<Void>
    private var received = ByteBuffer()

    init(_ greeted: EventLoopPromise<Void>) { self.greeted = greeted }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      received.writeBuffer(&buffer)
      // The greeting is the first frame behind the answer to the upgrade: {"t":"c",...
      if received.readableBytesView.contains(UInt8(ascii: "{")) { greeted.succeed() }
    }

    func channelInactive(context: ChannelHandlerContext) {
      greeted.fail(ChannelError.eof)
      context.fireChannelInactive()
    }
  }
#endif
