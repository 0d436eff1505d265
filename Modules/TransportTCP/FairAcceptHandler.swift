#if TCP
  import NIOCore

  /// Sets up accepted connections at a listener in the order of an ``AcceptQueue``: about one in a
  /// turn of its loop, as each of the others is read once.
  ///
  /// The system's own queue is first in, first out, and tells no address: it is emptied as fast as
  /// this one has room.
  final class FairAcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    /// The most connections that are accepted in a turn, and that are set up at once.
    static let share = 16
    /// The time that stands for one connection more in a turn: a turn that waits for the disk does
    /// not hold up those that connect, and one that is long because of them does not grow.
    private static let timeShare = TimeAmount.milliseconds(1)
    /// The time after which the next one is set up when no other one arrives. It is more than one
    /// costs: a loop that has work for itself all the time never looks at its sockets.
    private static let pause = TimeAmount.microseconds(500)

    private var queue = AcceptQueue<any Channel>()
    private let limit: Int
    private var isReadPending = false
    private var next: Scheduled<Void>?
    /// The latest setup, and the latest time at which the queue was told of its age.
    private var latest = NIODeadline.uptimeNanoseconds(0)
    private var aged = NIODeadline.uptimeNanoseconds(0)

    /// - Parameter limit: The most connections that wait, at least ``share``.
    init(limit: Int) { self.limit = max(limit, Self.share) }

    private var hasRoom: Bool { queue.count + Self.share <= limit }

    func handlerAdded(context: ChannelHandlerContext) {
      latest = context.eventLoop.now
      aged = latest
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let channel = unwrapInboundIn(data)
      queue.append(channel, of: channel.remoteAddress?.ipAddress ?? "unknown")
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      setUp(context)
      context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
      if hasRoom { context.read() } else { isReadPending = true }
    }

    func channelInactive(context: ChannelHandlerContext) {
      next?.cancel()
      next = nil
      for channel in queue.removeAll() { channel.close(promise: nil) }
      context.fireChannelInactive()
    }

    private func setUp(_ context: ChannelHandlerContext) {
      let now = context.eventLoop.now
      let seconds = (now - aged).nanoseconds / 1_000_000_000
      if seconds > 0 {
        queue.age(by: Int(seconds))
        aged = now
      }
      let shares = (now - latest).nanoseconds / Self.timeShare.nanoseconds
      latest = now
      for _ in 0..<max(1, min(Int(shares), Self.share)) {
        guard let channel = queue.popNext() else { break }
        context.fireChannelRead(wrapInboundOut(channel))
      }
      if isReadPending, hasRoom {
        isReadPending = false
        context.read()
      }
      if next == nil, !queue.isEmpty { setUpLater(context) }
    }

    private func setUpLater(_ context: ChannelHandlerContext) {
      let time = latest + Self.pause
      next = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) {
        self.next = nil
        if self.queue.isEmpty { return }
        // Others were set up meanwhile, which counts for all.
        if context.eventLoop.now < self.latest + Self.pause { return self.setUpLater(context) }
        self.setUp(context)
      }
    }
  }
#endif
