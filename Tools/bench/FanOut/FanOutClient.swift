#if TCP
  import NIOCore
  import NIOPosix

  /// One thread with many subscribers and one publisher, for any server that fans out.
  struct FanOutClient {
    /// What was measured at one server.
    struct Result: Sendable {
      var deliveriesPerSecond = 0.0
      /// Processor time of the server for one delivery, in nanoseconds.
      var serverNanoseconds = 0.0
      /// From publishing to the delivery at each subscriber, at a fixed pace; ascending.
      var latencies: [Duration] = []
      /// From publishing to the delivery at the last subscriber, at a fixed pace; ascending.
      var lastLatencies: [Duration] = []
    }

    let server: ChildServer
    let subscribers: Int
    let language: FanOutProtocol

    /// Publishes `messages` as fast as 16 under way allow, then `paced` at `perSecond`.
    func run(messages: Int, paced: Int, perSecond: Int) async throws -> Result {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let loop = group.next()
      let run = FanOutRun(subscribers: subscribers, language: language, loop: loop)
      for _ in 0..<subscribers {
        let channel = try await connect(loop) { FanOutSubscriber(run) }
        try await channel.writeAndFlush(ByteBuffer(bytes: language.subscribe))
      }
      let publisher = try await connect(loop) { FanOutPublisher() }
      if !language.greeting.isEmpty {
        try await publisher.writeAndFlush(ByteBuffer(bytes: language.greeting))
      }

      try await run.confirmed.futureResult.get()
      var result = Result()
      _ = try await run.deliver(64, through: publisher, every: nil)
      let busy = server.processorSeconds
      let elapsed = try await run.deliver(messages, through: publisher, every: nil)
      let deliveries = Double(messages * subscribers)
      result.deliveriesPerSecond = deliveries / (elapsed / .seconds(1))
      result.serverNanoseconds = (server.processorSeconds - busy) * 1e9 / deliveries
      let pause = TimeAmount.milliseconds(Int64(1000 / perSecond))
      _ = try await run.deliver(paced, through: publisher, every: pause)
      (result.latencies, result.lastLatencies) = try await loop.submit {
        (run.latencies.sorted(), run.lastLatencies.sorted())
      }.get()
      try await group.shutdownGracefully()
      return result
    }

    private func connect(
      _ loop: any EventLoop, _ handler: @escaping @Sendable () -> any ChannelHandler
    ) async throws -> any Channel {
      try await ClientBootstrap(group: loop)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(handler())
          }
        }
        .connect(host: "127.0.0.1", port: server.port).get()
    }
  }

  /// The count that all subscribers of a run keep together.
  ///
  /// `@unchecked`: after `init`, everything is touched on `loop` alone.
  final class FanOutRun: @unchecked Sendable {
    /// How many messages may be under way to all subscribers.
    private static let window = 16

    private let subscribers: Int
    let language: FanOutProtocol
    private let loop: any EventLoop
    /// Succeeds when every subscription was confirmed by the server.
    let confirmed: EventLoopPromise<Void>
    private var confirmations = 0
    private var goal = 0
    private var published = 0
    private var delivered = 0
    private var publisher: (any Channel)?
    private var finished: EventLoopPromise<Void>?
    private var isPaced = false
    /// When each message of a paced run was published, by its number.
    private var sent: [ContinuousClock.Instant] = []
    private(set) var latencies: [Duration] = []
    private(set) var lastLatencies: [Duration] = []

    init(subscribers: Int, language: FanOutProtocol, loop: any EventLoop) {
      self.subscribers = subscribers
      self.language = language
      self.loop = loop
      confirmed = loop.makePromise()
    }

    func didConfirm(_ count: Int) {
      confirmations += count
      if confirmations == subscribers { confirmed.succeed() }
    }

    /// Publishes `count` messages and returns how long it took until all were delivered.
    func deliver(
      _ count: Int, through channel: any Channel, every pause: TimeAmount?
    ) async throws -> Duration {
      let start = ContinuousClock.now
      try await loop.flatSubmit { [self] in
        let finished = loop.makePromise(of: Void.self)
        self.finished = finished
        publisher = channel
        (goal, published, delivered) = (count, 0, 0)
        sent = []
        isPaced = pause != nil
        if let pause {
          loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [self] task in
            if published < goal { publishOne() } else { task.cancel() }
          }
        } else {
          fillWindow()
        }
        return finished.futureResult
      }.get()
      return ContinuousClock.now - start
    }

    /// Counts messages at one subscriber, which has `seen` so many before.
    func didDeliver(_ count: Int, _ seen: inout Int) {
      if isPaced {
        let now = ContinuousClock.now
        for number in (seen - base)..<(seen - base + count) where sent.indices.contains(number) {
          latencies.append(now - sent[number])
          while lastLatencies.count <= number { lastLatencies.append(.zero) }
          lastLatencies[number] = max(lastLatencies[number], now - sent[number])
        }
      }
      seen += count
      delivered += count
      if delivered == goal * subscribers {
        base += goal
        finished?.succeed()
      } else if !isPaced {
        fillWindow()
      }
    }

    /// Messages of the phases before this one.
    private var base = 0

    private func fillWindow() {
      var hasPublished = false
      while published < goal, published * subscribers - delivered <= (Self.window - 1) * subscribers
      {
        publisher?.write(ByteBuffer(bytes: language.publish(published)), promise: nil)
        published += 1
        hasPublished = true
      }
      if hasPublished { publisher?.flush() }
    }

    private func publishOne() {
      sent.append(.now)
      publisher?.writeAndFlush(ByteBuffer(bytes: language.publish(published)), promise: nil)
      published += 1
    }
  }

  /// Counts what one subscriber receives.
  private final class FanOutSubscriber: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let run: FanOutRun
    private var rest = ByteBuffer()
    private var seen = 0

    init(_ run: FanOutRun) { self.run = run }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      if rest.readableBytes > 0 {
        rest.writeBuffer(&buffer)
        buffer = exchange(&rest, with: ByteBuffer())
      }
      let taken = run.language.take(&buffer)
      if buffer.readableBytes > 0 { rest = buffer }
      if taken.confirmations > 0 { run.didConfirm(taken.confirmations) }
      if taken.messages > 0 { run.didDeliver(taken.messages, &seen) }
    }
  }

  /// Drops what a server answers to a publisher.
  private final class FanOutPublisher: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
  }
#endif
