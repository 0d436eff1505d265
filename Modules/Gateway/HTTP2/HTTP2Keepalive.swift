#if TCP
  import NIOCore
  import NIOHTTP2

  /// Sends a `PING` to a client that has been silent, and closes the connection when no byte comes
  /// back in time: the other end is gone, or does not read.
  final class HTTP2Keepalive: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let connection: HTTP2Connection
    /// Looks once in each interval.
    private var task: RepeatedTask?
    /// Closes the connection unless bytes come; due after a `PING`.
    private var timeout: Scheduled<Void>?
    /// The reads of the socket at the last look.
    private var reads: UInt64 = 0

    init(_ connection: HTTP2Connection) { self.connection = connection }

    func handlerAdded(context: ChannelHandlerContext) {
      let interval = TimeAmount.seconds(Int64(connection.limits.http2.pingSeconds))
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let place = context.loopBound
      task = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
        handler.value.check(place.value)
      }
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    func channelInactive(context: ChannelHandlerContext) {
      stop()
      context.fireChannelInactive()
    }

    /// Sends a `PING` when nothing came since the last look. Any byte counts as the answer.
    private func check(_ context: ChannelHandlerContext) {
      let now = connection.reads
      guard exchange(&reads, with: now) == now else { return }
      let ping = HTTP2Frame.FramePayload.ping(HTTP2PingData(withInteger: now), ack: false)
      context.writeAndFlush(
        wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: ping)), promise: nil)
      let time = TimeAmount.seconds(Int64(connection.limits.http2.pingTimeoutSeconds))
      let (connection, channel) = (connection, context.channel)
      timeout?.cancel()
      timeout = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
        // A socket that is not read on purpose tells nothing.
        if connection.reads == now, connection.isReading { channel.close(promise: nil) }
      }
    }

    private func stop() {
      task?.cancel()
      timeout?.cancel()
    }
  }
#endif
