#if TCP
  import NIOCore
  import TernTransport
  import TernTreeWire

  /// The channel handler of one WebSocket: a session whose frames are its messages.
  ///
  /// Messages are those of the tree's dialect, in JSON. The handler lives on its event loop. It
  /// either opens a session of its own or takes over one from long polling; see
  /// ``TransportSwitch``.
  final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let setting: GatewayContext
    private let opening: TreeOpening
    private let peer: String
    /// The client's address, without its port.
    private let address: String
    /// Cuts bytes into frames; ``joiner`` joins texts to messages.
    private var reader: WebSocketReader
    private var joiner: MessageJoiner
    /// `nil` while the handler takes a session over, and after the end.
    private var session: GatewaySession?
    /// The carrier of the session that is to go on here.
    private var old: PollEndpoint?
    /// `nil` once the channel is inactive; what comes from the session later goes nowhere.
    private var place: ChannelHandlerContext?
    /// Whole messages of the present read, which are handed on together.
    private var frames: [[UInt8]] = []
    /// True once a goodbye was sent: nothing more is read, written or answered.
    private var isEnding = false
    /// True while pongs wait for the client to read them.
    private var isPongUnderway = false
    /// Pongs that were written since bytes began to be read, and are not flushed.
    private var unflushedPongs = 0
    /// The payload of the newest ping that came meanwhile.
    private var unansweredPing: [UInt8]?
    /// Closes the channel when the client does not answer the goodbye.
    private var timer: Scheduled<Void>?
    /// Bytes of messages that are not whole, as they are counted over all connections.
    private var heldBytes = 0

    init(
      _ opening: TreeOpening, for caller: Caller, takingOver old: PollEndpoint? = nil,
      _ setting: GatewayContext
    ) {
      self.old = old
      self.opening = opening
      peer = caller.peer
      address = caller.address
      self.setting = setting
      let limits = setting.options.limits
      reader = WebSocketReader(limitBytes: limits.messageBytes)
      joiner = MessageJoiner(
        limitBytes: limits.messageBytes, limitParts: limits.messageParts)
    }

    func handlerAdded(context: ChannelHandlerContext) {
      place = context
      if let old {
        guard old.offer(self, limitBytes: setting.options.limits.messageBytes) else {
          self.old = nil
          return refuse("another connection is taking it over")
        }
        return say(TransportSwitch.ready)
      }
      session = GatewaySession(
        opening, peer: peer, protocolName: "websocket", on: context.eventLoop, open: setting.open
      ) {
        self.carryOut($0, context)
      }
      // The first flush may have met the connection's end.
      if place == nil { endSession(.lost("it ended while it was opened")) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if isEnding { return }
      do throws(WebSocketFailure) {
        let bytes = unwrapInboundIn(data)
        // Events before a breach count: they are taken first, then the breach is thrown.
        let outcome = Result { () throws(WebSocketFailure) in
          try reader.consume(bytes.readableBytesUInt8Span)
        }
        for event in reader.takeEvents() { try take(event, context) }
        try outcome.get()
        try hold(reader.heldBytes + joiner.heldBytes)
      } catch {
        deliver()
        endSession(.lost(error.text))
        sayGoodbye(error.code, error.text, context)
      }
    }

    /// Hands on the messages of a read, and flushes its pongs.
    func channelReadComplete(context: ChannelHandlerContext) {
      deliver()
      flushPongs(context)
      context.fireChannelReadComplete()
    }

    func handlerRemoved(context: ChannelHandlerContext) { letGo() }

    /// Counts what is not whole yet.
    private func hold(_ bytes: Int) throws(WebSocketFailure) {
      let limit = setting.options.limits.heldBodyBytes
      if bytes < heldBytes {
        setting.load.release(heldBytes - bytes, for: address)
      } else if bytes > heldBytes, !setting.load.hold(bytes - heldBytes, limit: limit, for: address)
      {
        throw .overloaded
      }
      heldBytes = bytes
    }

    /// Drops what is not whole: the rest will not come.
    private func letGo() {
      let limits = setting.options.limits
      reader = WebSocketReader(limitBytes: limits.messageBytes)
      joiner = MessageJoiner(limitBytes: limits.messageBytes, limitParts: limits.messageParts)
      setting.load.release(exchange(&heldBytes, with: 0), for: address)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      endSession(.lost("\(error)"))
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      endSession(.lost("it ended without a goodbye"))
      session = nil
      place = nil
      context.fireChannelInactive()
    }

    /// Hands messages to the session, or to the one that is being taken over.
    private func deliver() {
      let frames = exchange(&frames, with: [])
      if let old { old.takeFromSocket(frames) } else { session?.receive(frames) }
    }

    /// Ends the session; one that is being taken over stays with its earlier carrier if it has
    /// not moved.
    private func endSession(_ reason: LinkClosure) {
      session?.end(reason)
      exchange(&old, with: nil)?.withdraw(reason)
    }
  }

  // MARK: - What was said, and what is to be said

  extension WebSocketHandler {
    /// Takes one event of the reader.
    private func take(
      _ event: WebSocketReader.Event, _ context: ChannelHandlerContext
    ) throws(WebSocketFailure) {
      if isEnding { return }
      switch event {
      case .text(let text):
        if let message = try joiner.take(text) { frames.append(message) }
      case .ping(let payload):
        pong(payload, context)
      case .close(let code):
        deliver()
        endSession(.closedByPeer)
        sayGoodbye(code ?? WebSocketCloseCode.normal, "", context)
      }
    }

    /// The most pings of one read that are answered one by one.
    private static var pongsPerRead: Int { 16 }

    /// Answers a ping.
    ///
    /// While pongs wait for the client to read, and behind the first ones of a read, only the
    /// newest ping is remembered: a client that never reads makes nothing grow, and a flood costs
    /// one write now and then. Source: RFC 6455, section 5.5.3.
    private func pong(_ payload: [UInt8], _ context: ChannelHandlerContext) {
      if isPongUnderway || unflushedPongs >= Self.pongsPerRead {
        unansweredPing = payload
        return
      }
      unflushedPongs += 1
      let head = WebSocketFrame.header(WebSocketFrame.pong, count: payload.count)
      context.write(wrapOutboundOut(ByteBuffer(bytes: head + payload)), promise: nil)
    }

    /// Flushes the pongs of a read behind one promise, which tells that they have left.
    private func flushPongs(_ context: ChannelHandlerContext) {
      if unflushedPongs == 0 || isEnding { return }
      unflushedPongs = 0
      isPongUnderway = true
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let sent = context.eventLoop.makePromise(of: Void.self)
      sent.futureResult.whenSuccess { handler.value.pongDidLeave() }
      context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    }

    /// Answers the newest ping of those that came meanwhile.
    private func pongDidLeave() {
      isPongUnderway = false
      guard let payload = exchange(&unansweredPing, with: nil), !isEnding, let place else { return }
      pong(payload, place)
      flushPongs(place)
    }

    /// Performs what the server asks of the connection.
    private func carryOut(_ order: LinkOrder, _ context: ChannelHandlerContext) {
      switch order {
      case .send(let frames, let bytes): send(frames, bytes, context)
      case .setReading(let isOn): HalfClose.setReading(isOn, context.channel)
      case .abort:
        endSession(.closedHere)
        context.close(promise: nil)
      case .close:
        endSession(.closedHere)
        sayGoodbye(WebSocketCloseCode.normal, "", context)
      }
    }

    /// Writes batches of frames, and reports their bytes to the link when all have left.
    ///
    /// - Parameter bytes: The bytes as the link counts them, without the heads of frames.
    private func send(_ batches: [GatewayFrames], _ bytes: Int, _ context: ChannelHandlerContext) {
      if isEnding { return }
      for batch in batches {
        for buffer in batch.webSocketBuffers {
          context.write(wrapOutboundOut(buffer), promise: nil)
        }
      }
      let sent = context.eventLoop.makePromise(of: Void.self)
      if let link = session?.link ?? old?.link {
        sent.futureResult.whenSuccess { link.didSend(bytes) }
      }
      // An empty write behind the others is done when they are.
      context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    }

    /// Carries out what the server orders for a session that was taken over.
    func carryOut(_ order: LinkOrder) {
      if let place { carryOut(order, place) }
    }

    /// Sends a message of the switch.
    func say(_ message: [UInt8]) {
      if let place { send([.own([message])], 0, place) }
    }

    /// Ends the connection, which takes nothing over.
    func refuse(_ reason: String) {
      old = nil
      if let place { sayGoodbye(WebSocketFailure.protocolError("").code, reason, place) }
    }

    /// Handles the end of the earlier carrier: the session ends with it if it has not moved.
    func oldWayEnded() { refuse("the session has ended") }

    /// Sends the goodbye, once, and waits for the other side's to end the connection.
    private func sayGoodbye(
      _ code: UInt16, _ reason: String, _ context: ChannelHandlerContext
    ) {
      if isEnding { return }
      isEnding = true
      letGo()
      let frame = ByteBuffer(bytes: WebSocketFrame.goodbye(code, reason))
      timer = HalfClose.end(
        context.channel, behind: frame,
        within: .seconds(Int64(setting.options.limits.lingerSeconds)))
    }
  }
#endif
