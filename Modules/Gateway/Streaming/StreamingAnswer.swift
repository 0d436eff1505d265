#if TCP
  import NIOCore
  import TernTransport
  import TernTreeWire

  /// The long answer to a request for events: a session with the server, and what it says.
  final class StreamingAnswer {
    private var stream: EventStream
    private var session: DoorSession?
    private let handler: HTTPDoorHandler
    private let context: ChannelHandlerContext
    private var keepAlive: RepeatedTask?

    init(
      _ stream: EventStream, for caller: Caller, of handler: HTTPDoorHandler,
      _ context: ChannelHandlerContext
    ) {
      self.stream = stream
      self.handler = handler
      self.context = context
      let setting = handler.setting
      let opening = TreeOpening(namespace: caller.namespace)
      session = DoorSession(
        opening, peer: caller.peer, on: context.eventLoop, open: setting.open
      ) { [weak self] in self?.carryOut($0) }
      session?.receive(stream.requests)
    }

    /// The connection has ended.
    func end() {
      keepAlive?.cancel()
      keepAlive = nil
      session?.end(.closedByPeer)
      session = nil
    }

    private func carryOut(_ order: LinkOrder) {
      switch order {
      case .send(let frames, let bytes):
        let link = session?.link
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.whenSuccess { link?.didSend(bytes) }
        perform(frames.flatMap { stream.take($0) }, sent)
      // A stream asks once: there is nothing to stop reading.
      case .setReading: break
      case .close:
        perform(stream.close(because: "The server ended the session."), nil)
        session?.end(.closedHere)
        end()
      }
    }

    private func perform(_ outputs: [EventStream.Output], _ sent: EventLoopPromise<Void>?) {
      for output in outputs {
        switch output {
        case .refuse(let error):
          sent?.succeed()
          end()
          return handler.answer(error.response, context)
        case .begin:
          handler.beginStream(context)
          startKeepAlive()
        case .send(let bytes): handler.stream(bytes, context)
        case .finish:
          sent?.succeed()
          end()
          return handler.endStream(context)
        }
      }
      handler.flushStream(sent, context)
    }

    private func startKeepAlive() {
      let period = TimeAmount.seconds(Int64(handler.limits.keepAliveSeconds))
      let answer = NIOLoopBound(self, eventLoop: context.eventLoop)
      keepAlive = context.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
        answer.value.sayAlive()
      }
    }

    private func sayAlive() {
      handler.stream(EventStream.keepAlive, context)
      let sent = context.eventLoop.makePromise(of: Void.self)
      let answer = NIOLoopBound(self, eventLoop: context.eventLoop)
      // Whoever takes what is sent is alive, which is all that a silent listener can show.
      sent.futureResult.whenSuccess {
        answer.value.session?.receive([TreeClientMessage.keepAlive.encode()])
      }
      handler.flushStream(sent, context)
    }
  }
#endif
