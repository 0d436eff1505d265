#if TCP
  import NIOCore
  import TernTransport
  import TernTreeWire

  /// The channel handler of one WebSocket: a session whose frames are its messages.
  final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let setting: DoorSetting
    private let opening: TreeOpening
    private let peer: String
    private var reader: WebSocketReader
    private var joiner: MessageJoiner
    private var session: DoorSession?
    private var frames: [[UInt8]] = []
    private var isEnding = false
    private var timer: Scheduled<Void>?

    init(_ opening: TreeOpening, peer: String, _ setting: DoorSetting) {
      self.opening = opening
      self.peer = peer
      self.setting = setting
      let limits = setting.options.limits
      reader = WebSocketReader(limitBytes: limits.messageBytes)
      joiner = MessageJoiner(
        limitBytes: limits.messageBytes, limitParts: limits.messageParts)
    }

    func handlerAdded(context: ChannelHandlerContext) {
      session = DoorSession(opening, peer: peer, on: context.eventLoop, open: setting.open) {
        self.carryOut($0, context)
      }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if isEnding { return }
      do throws(WebSocketFailure) {
        let bytes = unwrapInboundIn(data)
        let outcome = Result { () throws(WebSocketFailure) in
          try reader.consume(bytes.readableBytesUInt8Span)
        }
        for event in reader.takeEvents() { try take(event, context) }
        try outcome.get()
      } catch {
        deliver()
        session?.end(.lost(error.text))
        sayGoodbye(error.code, error.text, context)
      }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      deliver()
      context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      session?.end(.lost("\(error)"))
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      session?.end(.lost("it ended without a goodbye"))
      session = nil
      context.fireChannelInactive()
    }

    private func deliver() {
      let frames = exchange(&frames, with: [])
      session?.receive(frames)
    }
  }

  // MARK: - What was said, and what is to be said

  extension WebSocketHandler {
    private func take(
      _ event: WebSocketReader.Event, _ context: ChannelHandlerContext
    ) throws(WebSocketFailure) {
      if isEnding { return }
      switch event {
      case .text(let text):
        if let message = try joiner.take(text) { frames.append(message) }
      case .ping(let payload):
        let head = WebSocketFrame.header(WebSocketFrame.pong, count: payload.count)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: head + payload)), promise: nil)
      case .close(let code):
        deliver()
        session?.end(.closedByPeer)
        sayGoodbye(code ?? WebSocketCloseCode.normal, "", context)
      }
    }

    private func carryOut(_ order: LinkOrder, _ context: ChannelHandlerContext) {
      switch order {
      case .send(let frames, let bytes): send(frames, bytes, context)
      case .setReading(let isOn): Linger.setReading(isOn, context.channel)
      case .close:
        session?.end(.closedHere)
        sayGoodbye(WebSocketCloseCode.normal, "", context)
      }
    }

    private func send(_ frames: [[UInt8]], _ bytes: Int, _ context: ChannelHandlerContext) {
      if isEnding { return }
      var buffer = context.channel.allocator.buffer(capacity: bytes + 16 * frames.count)
      for frame in frames {
        for part in MessageParts.cut(frame) {
          buffer.writeBytes(WebSocketFrame.header(WebSocketFrame.text, count: part.count))
          buffer.writeBytes(part)
        }
      }
      let sent = context.eventLoop.makePromise(of: Void.self)
      if let link = session?.link {
        sent.futureResult.whenSuccess { link.didSend(bytes) }
      }
      context.writeAndFlush(wrapOutboundOut(buffer), promise: sent)
    }

    /// Sends the goodbye, once, and waits for the other side's to end the connection.
    private func sayGoodbye(
      _ code: UInt16, _ reason: String, _ context: ChannelHandlerContext
    ) {
      if isEnding { return }
      isEnding = true
      let frame = ByteBuffer(bytes: WebSocketFrame.goodbye(code, reason))
      timer = Linger.end(
        context.channel, behind: frame,
        within: .seconds(Int64(setting.options.limits.lingerSeconds)))
    }
  }
#endif
