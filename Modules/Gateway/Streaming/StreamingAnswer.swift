#if TCP
  import NIOCore
  import TernTransport
  import TernTreeWire

  /// The long answer to a request for events: a session with the server, and what it says.
  ///
  /// ``EventStream`` decides; this class performs, on the event loop of the connection. It
  /// belongs to ``HTTPHandler/streaming`` from its creation to the end of the connection or of
  /// the stream.
  final class StreamingAnswer {
    private var stream: EventStream
    /// `nil` once the stream is over; nothing is received after that.
    private var session: GatewaySession?
    private let handler: HTTPHandler
    private let context: ChannelHandlerContext
    /// Runs from the head of the answer on.
    private var keepAlive: RepeatedTask?
    /// The source of large first data while they are sent.
    private var pump: ExportPump?
    /// The client's address, which what it has not read is charged to.
    private let address: String
    /// The database that is listened to, for the export.
    private let namespace: String
    /// The output that the client has not taken yet, counted as ``GatewayLimits/streamBytes`` says.
    private var unsentBytes = 0
    /// The output that was not handed on yet: the events of a batch leave together.
    private var outbox: [ByteBuffer] = []
    /// Kept once the present batch has left.
    private var leaving: EventLoopPromise<Void>?
    /// The bytes charged for events that wait for the end of the first data.
    private var chargedHeld = 0

    init(
      _ stream: EventStream, for caller: Caller, of handler: HTTPHandler,
      _ context: ChannelHandlerContext
    ) {
      self.stream = stream
      self.handler = handler
      self.context = context
      namespace = caller.namespace
      address = caller.address
      let setting = handler.setting
      let opening = TreeOpening(namespace: caller.namespace)
      session = GatewaySession(
        opening, peer: caller.peer, protocolName: "events", on: context.eventLoop,
        open: setting.open
      ) { [weak self] in self?.carryOut($0) }
      // Behind the creation, which has sent the introduction: credential and listen follow it.
      session?.receive(stream.requests)
    }

    /// The connection has ended.
    func end(_ reason: LinkClosure = .closedByPeer) {
      keepAlive?.cancel()
      keepAlive = nil
      pump?.cancel()
      pump = nil
      session?.end(reason)
      session = nil
      exchange(&leaving, with: nil)?.succeed()
      charge(held: 0)
    }

    /// Performs what the server asks of the connection.
    private func carryOut(_ order: LinkOrder) {
      switch order {
      case .send(let batches, let bytes): send(batches, bytes)
      // A stream asks once: there is nothing to stop reading.
      case .setReading: break
      case .abort:
        end(.closedHere)
        context.close(promise: nil)
      case .close:
        if perform(stream.close(because: "The server ended the session.")) { flush() }
        session?.end(.closedHere)
        end()
      }
    }

    /// Turns frames of the server into events and sends them together.
    ///
    /// A client with more than ``GatewayLimits/streamBytes`` unread is cut off before more is
    /// added, and one whose address may hold no more. Bytes are charged until they have left,
    /// which may be long after the session has ended. The server's count of the link is settled
    /// then, so that its back-pressure sees them.
    private func send(_ batches: [GatewayFrames], _ bytes: Int) {
      guard unsentBytes <= handler.limits.streamBytes else { return cutOff() }
      let count = batches.reduce(0) { $0 + $1.frames.count }
      let cost = bytes + count * EventStream.eventBytes
      // Events that are held back are charged by what they are.
      let charged = stream.isExporting ? 0 : cost
      let (load, address) = (handler.setting.load, address)
      guard load.holdAnswer(charged, limit: handler.limits.heldAnswerBytes, for: address) else {
        return cutOff()
      }
      unsentBytes += cost
      let link = session?.link
      let answer = NIOLoopBound(self, eventLoop: context.eventLoop)
      let sent = context.eventLoop.makePromise(of: Void.self)
      sent.futureResult.whenComplete { _ in load.releaseAnswer(charged, for: address) }
      sent.futureResult.whenSuccess {
        answer.value.unsentBytes -= cost
        link?.didSend(bytes)
      }
      leaving = sent
      for batch in batches { guard take(batch) else { return } }
      guard charge(held: stream.heldBytes) else { return cutOff() }
      flush()
    }

    /// Takes frames of the server: all at once when they are the same for many streams.
    ///
    /// - Returns: Whether the stream goes on.
    private func take(_ batch: GatewayFrames) -> Bool {
      if case .shared(let shared) = batch, stream.isOpen,
        let events = shared.form(SharedEvents.init).events(at: stream.path, stream.form)
      {
        if events.readableBytes > 0 { outbox.append(events) }
        return true
      }
      return batch.frames.allSatisfy { perform(stream.take($0)) }
    }

    /// Charges the events that wait for the end of the first data.
    ///
    /// - Returns: `false`, and nothing changes, when the address may hold no more.
    @discardableResult
    private func charge(held bytes: Int) -> Bool {
      let (load, address) = (handler.setting.load, address)
      if bytes <= chargedHeld {
        load.releaseAnswer(chargedHeld - bytes, for: address)
      } else if !load.holdAnswer(
        bytes - chargedHeld, limit: handler.limits.heldAnswerBytes, for: address)
      {
        return false
      }
      chargedHeld = bytes
      return true
    }

    /// Ends a stream whose client does not take what it is sent.
    private func cutOff() {
      end(.lost("what is sent is read too slowly"))
      context.close(promise: nil)
    }

    /// Hands on what was said; the promise of the batch is kept when it has left.
    private func flush() {
      for events in exchange(&outbox, with: []) { handler.stream(events, context) }
      handler.flushStream(exchange(&leaving, with: nil), context)
    }

    /// - Returns: Whether the stream goes on.
    private func perform(_ outputs: [EventStream.Output]) -> Bool {
      for output in outputs {
        switch output {
        case .refuse(let error):
          end()
          handler.answer(error.response, context)
          return false
        case .begin: begin()
        case .beginExport:
          guard beginExport() else { return false }
        case .send(let bytes): outbox.append(ByteBuffer(bytes: bytes))
        case .finish:
          flush()
          end()
          handler.endStream(context)
          return false
        case .abort:
          end(.lost("what there is could not be said to its end"))
          context.close(promise: nil)
          return false
        }
      }
      return true
    }

    /// Sends the head of the answer; events may follow.
    private func begin() {
      let head = HTTPResponse(
        status: 200,
        headers: [
          ("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-cache"),
          // Proxies that collect answers would keep events from their client.
          ("X-Accel-Buffering", "no"),
        ])
      handler.beginStream(head, context)
      startKeepAlive()
    }

    /// Begins to say what is too large to be said at once.
    private func beginExport() -> Bool {
      let taker = ExportPump.Taker(
        send: { [handler, context] bytes, sent in
          handler.stream(ByteBuffer(bytes: bytes), context)
          handler.flushStream(sent, context)
        },
        finish: { [weak self] in self?.endExport() },
        abort: { [context] _ in context.close(promise: nil) })
      let pump = ExportPump(taker, on: context.eventLoop)
      let version = pump.start(
        stream.path, stream.form, of: namespace, handler.setting, at: handler.address)
      // The answer has not begun, so the refusal can be an ordinary one.
      guard let version else {
        end()
        handler.answer(HTTPHandler.tooManyExports.response, context)
        return false
      }
      self.pump = pump
      stream.exports(at: version)
      begin()
      // The first event's text is opened here and closed by the tail: its data are the pieces
      // of the export.
      handler.stream(ByteBuffer(bytes: EventStream.exportHead), context)
      return true
    }

    /// Ends the first event, and sends those that waited for it.
    private func endExport() {
      pump = nil
      let held = exchange(&chargedHeld, with: 0)
      let (load, address) = (handler.setting.load, address)
      let sent = context.eventLoop.makePromise(of: Void.self)
      sent.futureResult.whenComplete { _ in load.releaseAnswer(held, for: address) }
      leaving = sent
      if perform(stream.exportEnded()) { flush() }
    }

    /// Sends a sign of life at each interval, until the end.
    private func startKeepAlive() {
      let period = TimeAmount.seconds(Int64(handler.limits.keepAliveSeconds))
      let answer = NIOLoopBound(self, eventLoop: context.eventLoop)
      keepAlive = context.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
        answer.value.sayAlive()
      }
    }

    /// During an export no event may come in between; the write alone still shows if the client
    /// takes output.
    private func sayAlive() {
      if !stream.isExporting { handler.stream(ByteBuffer(bytes: EventStream.keepAlive), context) }
      let sent = context.eventLoop.makePromise(of: Void.self)
      let answer = NIOLoopBound(self, eventLoop: context.eventLoop)
      // A client that takes output is alive, which is all that a silent listener can show.
      sent.futureResult.whenSuccess {
        answer.value.session?.receive([TreeClientMessage.keepAlive.encode()])
      }
      handler.flushStream(sent, context)
    }
  }
#endif
