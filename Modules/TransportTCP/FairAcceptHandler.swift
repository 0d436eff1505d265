#if TCP
  import NIOCore

  /// Sets up accepted connections at a listener, few in a turn of its loop, in the order of an
  /// ``AcceptQueue``.
  ///
  /// The system's own queue is first in, first out, and tells no address: it is emptied as fast as
  /// this one has room.
  final class FairAcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    /// The most connections that are accepted in a turn, and that are set up in one.
    static let share = 16
    /// The time that stands for one connection more in a turn: a turn that waits for the disk does
    /// not hold up those that connect, and one that is long because of them does not grow.
    private static let timeShare = TimeAmount.milliseconds(1)
    /// The pause before the next ones, in which the loop looks at its sockets.
    private static let pause = TimeAmount.microseconds(50)

    private var queue = AcceptQueue<any Channel>()
    private let limit: Int
    private var isReadPending = false
    private var next: Scheduled<Void>?
    /// The latest setup, and the latest time at which the queue was told of its age.
    private var latest = NIODeadline.now()
    private var aged = NIODeadline.now()

    /// - Parameter limit: The most connections that wait, at least ``share``.
    init(limit: Int) { self.limit = max(limit, Self.share) }

    private var hasRoom: Bool { queue.count + Self.share <= limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let channel = unwrapInboundIn(data)
      queue.append(channel, of: channel.remoteAddress?.ipAddress ?? "unknown")
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      if next == nil { setUp(context) }
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
      let now = NIODeadline.now()
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
      if queue.isEmpty { return }
      next = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
        self.next = nil
        self.setUp(context)
      }
    }
  }
#endif
