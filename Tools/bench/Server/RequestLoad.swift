#if TCP
  import NIOCore
  import NIOPosix

  /// Many clients on one thread, each with a fixed number of requests under way.
  struct RequestLoad {
    let clients: Int
    /// Requests a client has sent and not heard of.
    let depth: Int
    let language: RequestProtocol

    /// The cost of a load.
    struct Result {
      var writesPerSecond = 0.0
      /// Processor time of the server for one write, in microseconds.
      var serverMicroseconds = 0.0
    }

    /// Lets all clients write, and counts the writes of `seconds` after as many for warming up.
    func run(at server: ChildServer, seconds: Double) async throws -> Result {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let loop = group.next()
      let count = RequestCount()
      for client in 0..<clients {
        let channel = try await ClientBootstrap(group: loop)
          .channelOption(.tcpOption(.tcp_nodelay), value: 1)
          .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.addHandler(
                RequestClient(client, depth: depth, language, count))
            }
          }
          .connect(host: "127.0.0.1", port: server.port).get()
        _ = channel
      }
      let pause = TimeAmount.milliseconds(Int64(seconds * 1_000))
      let before = try await loop.scheduleTask(in: pause) { count.successes }.futureResult.get()
      let start = ContinuousClock.now
      let busy = server.processorSeconds
      let after = try await loop.scheduleTask(in: pause) { count.successes }.futureResult.get()
      let elapsed = ContinuousClock.now - start
      let cost = server.processorSeconds - busy
      let failures = try await loop.submit { count.failures }.get()
      try await group.shutdownGracefully()
      guard failures == 0 else { throw BenchFailure(reason: "\(failures) writes were refused") }
      let writes = Double(after - before)
      return Result(
        writesPerSecond: writes / (elapsed / .seconds(1)), serverMicroseconds: cost * 1e6 / writes)
    }
  }

  /// The answers that all clients of a load have received.
  ///
  /// `@unchecked Sendable` is sound because only the clients' loop uses it.
  private final class RequestCount: @unchecked Sendable {
    var successes = 0
    var failures = 0
  }

  private final class RequestClient: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let client: Int
    private let depth: Int
    private let language: RequestProtocol
    private let count: RequestCount
    private var rest = ByteBuffer()
    private var number = 0

    init(_ client: Int, depth: Int, _ language: RequestProtocol, _ count: RequestCount) {
      self.client = client
      self.depth = depth
      self.language = language
      self.count = count
    }

    func channelActive(context: ChannelHandlerContext) {
      let greeting = language.greeting(client)
      if !greeting.isEmpty {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: greeting)), promise: nil)
      }
      if !language.awaitsGreeting { send(depth, context) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      if rest.readableBytes > 0 {
        rest.writeBuffer(&buffer)
        buffer = exchange(&rest, with: ByteBuffer())
      }
      let answers = language.take(&buffer)
      if buffer.readableBytes > 0 { rest = buffer }
      count.successes += answers.successes
      count.failures += answers.failures
      send((answers.isGreeted ? depth : 0) + answers.successes + answers.failures, context)
    }

    private func send(_ count: Int, _ context: ChannelHandlerContext) {
      if count == 0 { return }
      var buffer = context.channel.allocator.buffer(capacity: 256 * count)
      for _ in 0..<count {
        number += 1
        language.request(client, number, &buffer)
      }
      context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }
  }
#endif
