#if TCP
  import NIOCore

  /// Sets up accepted connections at a listener in the order of an ``AcceptQueue``, at a
  /// ``SetupPace``. Those of an address that opens more than its ``ConnectionRate`` are closed.
  ///
  /// The system's own queue is first in, first out, and tells no address: it is emptied as fast as
  /// this one has room.
  final class FairAcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    /// Accepted connections that have a descriptor and no pipeline yet.
    private var queue = AcceptQueue<any Channel>()
    private var rate: ConnectionRate
    /// The most entries of ``queue``. While fewer than a whole read of the listener fit, it is
    /// not read.
    private let limit: Int
    private let isExempt: (String) -> Bool
    /// True when the listener asked for a read that the full queue has held back.
    private var isReadPending = false
    /// The wakeup for the next setup; at most one is scheduled at a time.
    private var next: Scheduled<Void>?
    private var pace = SetupPace(at: .uptimeNanoseconds(0))
    /// The latest time at which the queue was told of its age.
    private var aged = NIODeadline.uptimeNanoseconds(0)

    /// - Parameters:
    ///   - limit: The most connections that wait, at least ``SetupPace/share``.
    ///   - perAddress: The connections per second of one address; `nil` for any number.
    ///   - isExempt: Tells the addresses without such a rate, which stand for many clients.
    init(
      limit: Int, perAddress: Int? = nil, isExempt: @escaping (String) -> Bool = { _ in false }
    ) {
      self.limit = max(limit, SetupPace.share)
      self.isExempt = isExempt
      rate = ConnectionRate(perSecond: perAddress)
    }

    /// One read of the listener accepts up to ``SetupPace/share`` connections, so that many
    /// must fit.
    private var hasRoom: Bool { queue.count + SetupPace.share <= limit }

    func handlerAdded(context: ChannelHandlerContext) {
      aged = context.eventLoop.now
      pace = SetupPace(at: aged)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let channel = unwrapInboundIn(data)
      let address = channel.remoteAddress?.ipAddress ?? "unknown"
      // Closed before a pipeline is built: this is the cheapest end that a flood can be given.
      guard isExempt(address) || rate.take(address, at: context.eventLoop.now) else {
        return channel.close(promise: nil)
      }
      queue.append(channel, of: address)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      setUp(context)
      context.fireChannelReadComplete()
    }

    /// Passes a read on to the listener, or holds it back while the queue is full. The system's
    /// own backlog fills then, and further clients wait in it.
    func read(context: ChannelHandlerContext) {
      if hasRoom { context.read() } else { isReadPending = true }
    }

    /// Closes all that wait: the listener is gone, and they would be served by none.
    func channelInactive(context: ChannelHandlerContext) {
      next?.cancel()
      next = nil
      for channel in queue.removeAll() { channel.close(promise: nil) }
      context.fireChannelInactive()
    }

    /// Ages the counts, hands on as many connections as the pace allows, and resumes a
    /// held-back read.
    private func setUp(_ context: ChannelHandlerContext) {
      let now = context.eventLoop.now
      let seconds = (now - aged).nanoseconds / 1_000_000_000
      if seconds > 0 {
        queue.age(by: Int(seconds))
        rate.forget(at: now)
        aged = now
      }
      // The pace is asked once for a burst: its credit is used up by what it returns.
      for _ in 0..<pace.take(queue.count, at: now) {
        guard let channel = queue.popNext() else { break }
        context.fireChannelRead(wrapInboundOut(channel))
      }
      if isReadPending, hasRoom {
        isReadPending = false
        context.read()
      }
      if next == nil, !queue.isEmpty { setUpLater(context) }
    }

    /// Schedules the next setup for the moment at which the pace has credit for one.
    private func setUpLater(_ context: ChannelHandlerContext) {
      let due = pace.next
      next = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) {
        self.next = nil
        // The lateness of the wakeup is the only measure of how long the turns of the loop are.
        self.pace.noteWakeup(at: context.eventLoop.now, for: due)
        if !self.queue.isEmpty { self.setUp(context) }
      }
    }
  }
#endif
