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

    private var queue = AcceptQueue<any Channel>()
    private var rate: ConnectionRate
    private let limit: Int
    private let isExempt: (String) -> Bool
    private var isReadPending = false
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

    private var hasRoom: Bool { queue.count + SetupPace.share <= limit }

    func handlerAdded(context: ChannelHandlerContext) {
      aged = context.eventLoop.now
      pace = SetupPace(at: aged)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let channel = unwrapInboundIn(data)
      let address = channel.remoteAddress?.ipAddress ?? "unknown"
      guard isExempt(address) || rate.take(address, at: context.eventLoop.now) else {
        return channel.close(promise: nil)
      }
      queue.append(channel, of: address)
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
        rate.forget(at: now)
        aged = now
      }
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

    private func setUpLater(_ context: ChannelHandlerContext) {
      let due = pace.next
      next = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) {
        self.next = nil
        self.pace.noteWakeup(at: context.eventLoop.now, for: due)
        if !self.queue.isEmpty { self.setUp(context) }
      }
    }
  }
#endif
