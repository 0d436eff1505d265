#if TCP
  import NIOCore
  import NIOHTTP1
  import TernServer
  import TernTransportTCP
  import TernTransportWebSocket

  extension HTTPHandler {
    /// Hands a request to its endpoint: operators' first, that of data last, by the path's suffix.
    func route(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
      if setting.admin.isListener || AdminRequest.serves(rawTarget: request.target) {
        return AdminEndpoint(self, context).serve(request)
      }
      if BackupRequest.serves(request.target), let target = RequestTarget(request.target) {
        let caller = Caller(request, target, behind: setting.proxies)
        return BackupRequest.serve(request, caller, target, self, context)
      }
      if request.method == "OPTIONS" {
        let isDevelopment = setting.options.isDevelopment
        return answer(CrossOrigin.preflight(request, isDevelopment: isDevelopment), context)
      }
      guard let target = RequestTarget(request.target) else {
        return answer(RESTError.invalid("The address is malformed.").response, context)
      }
      let caller = Caller(request, target, behind: setting.proxies)
      if let method = WebChannelRequest.method(at: target.path) {
        return WebChannelExchange(self, context).serve(method, request, target, caller, setting)
      }
      do throws(RESTError) {
        switch target.path {
        case WebSocketHandshake.path:
          try upgrade(try WebSocketHandshake(request, target, caller), caller, context)
        case LinkHandshake.path:
          openLink(try LinkHandshake(request), caller, context)
        case PollSession.path:
          try setting.polls.value.take(request, target, caller, setting, hold(context))
        case let path where DocumentRoute.serves(path):
          DocumentRESTEndpoint.of(self, context).serve(request, target, caller)
        case let path where EmulatorRequest.serves(path):
          DocumentRESTEndpoint.of(self, context).serveEmulator(request, target, caller)
        case let path where ConsolePage.serves(path):
          answer(try ConsolePage.response(to: request, at: path, setting.options), context)
        case let path where RulesEndpoint.serves(path):
          let asked = try RulesEndpoint.request(request, target, caller)
          ask(asked, context) { RulesEndpoint.response(to: $0) }
        case "/" where request.method == "GET" || request.method == "HEAD":
          // Programs ask for the root to see that the server is up.
          answer(.alive, context)
        case let path where path.hasSuffix(RESTRequest.suffix):
          if EventStream.isAsked(by: request) {
            let events = try EventStream(
              request, target, caller, heldLimitBytes: limits.streamBytes,
              readsHere: setting.holds(caller.namespace))
            return stream(events, caller, context)
          }
          if let managing = try ManagementRequest(request, target, caller) {
            return manage(managing, context)
          }
          if request.body.count > Self.largeBodyBytes {
            return parse(try LargeRequest(request, target, caller), context)
          }
          ask(try RESTRequest(request, target, caller), context)
        case let path where path.hasSuffix(RESTUpload.suffix):
          if request.body.count > Self.largeBodyBytes {
            return parse(try LargeRequest(uploading: request, target, caller), context)
          }
          ask(try RESTUpload.write(request, target, caller), context)
        default:
          throw RESTError(404, "Append .json to the path to read and write data over REST.")
        }
      } catch {
        answer(error.response, context)
      }
    }

    func ask(_ request: RESTRequest, _ context: ChannelHandlerContext) {
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let place = context.loopBound
      let asked = NIODeadline.now()
      setting.ask(request.asked) { answer in
        guard handler.value.isAnswering else { return }
        if let late = request.objection(toTaking: NIODeadline.now() - asked) {
          return handler.value.answer(late.response, place.value)
        }
        if answer == .large { return handler.value.export(request, place.value) }
        RESTAnswer.give(answer, to: request, of: handler, place)
      }
    }

    private func manage(_ request: ManagementRequest, _ context: ChannelHandlerContext) {
      guard let asked = request.asked else { return answer(request.response(to: nil), context) }
      ask(asked, context) { request.response(to: $0) }
    }

    /// Asks the server, and answers with what `response` makes of its answer.
    func ask(
      _ request: DirectRequest, _ context: ChannelHandlerContext,
      _ response: @escaping @Sendable (DirectAnswer) -> HTTPResponse
    ) {
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let place = context.loopBound
      setting.ask(request) { answer in
        guard handler.value.isAnswering else { return }
        handler.value.answer(response(answer), place.value)
      }
    }

    private func stream(
      _ stream: EventStream, _ caller: Caller, _ context: ChannelHandlerContext
    ) {
      streaming = StreamingAnswer(stream, for: caller, of: self, context)
    }

    /// The request that is being answered, to be answered later.
    private func hold(_ context: ChannelHandlerContext) -> HeldPoll {
      let number = requestNumber
      return HeldPoll(
        loop: context.eventLoop,
        isAlive: { self.isAnswering && self.requestNumber == number && context.channel.isActive },
        whenGone: { self.whenGone = $0 }, respond: { self.answer($0, context) })
    }

    /// Turns the connection into a WebSocket.
    private func upgrade(
      _ handshake: WebSocketHandshake, _ caller: Caller, _ context: ChannelHandlerContext
    ) throws(RESTError) {
      var old: PollEndpoint?
      if let session = handshake.takenOver {
        old = setting.polls.value.endpoint(of: session)
        if old == nil { throw RESTError(404, "There is no such session to take over.") }
      }
      becomeWebSocket(answering: handshake.response, context) { [setting] channel in
        try channel.pipeline.syncOperations.addHandler(
          WebSocketHandler(handshake.opening, for: caller, takingOver: old, setting))
      }
    }

    /// Turns the connection into a link of our own clients.
    private func openLink(
      _ handshake: LinkHandshake, _ caller: Caller, _ context: ChannelHandlerContext
    ) {
      becomeWebSocket(answering: handshake.response, context) { [setting] channel in
        try WebSocketTunnel.install(
          on: channel, for: LinkPeer(name: caller.peer, address: caller.address),
          setting.installLink)
      }
    }

    /// Turns the connection into one of WebSocket, if it is still there.
    private func becomeWebSocket(
      answering response: [UInt8], _ context: ChannelHandlerContext,
      _ install: (any Channel) throws -> Void
    ) {
      // The decoder hands over what it has left when the connection has ended already, and tells
      // the end to no handler that is added then. A channel without a peer's address is a test's.
      if !context.channel.isActive, context.channel.remoteAddress != nil { return stepAside() }
      stepAside()
      context.replaceHTTP(answering: response, install)
    }
  }

  extension ChannelHandlerContext {
    /// Answers the opening handshake, and puts handlers of WebSocket in the place of HTTP's.
    fileprivate func replaceHTTP(
      answering response: [UInt8], _ install: (any Channel) throws -> Void
    ) {
      let channel = channel
      let pipeline = pipeline.syncOperations
      do {
        let encoder = try pipeline.context(handlerType: HTTPResponseEncoder.self)
        let decoder = try pipeline.context(
          handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
        pipeline.removeHandler(context: encoder, promise: nil)
        let probe = try pipeline.context(handlerType: RequestLineProbe.self)
        pipeline.removeHandler(context: probe, promise: nil)
        // Not flushed yet: a flush that meets a connection that is gone ends the channel at once,
        // and the handler that is added next must learn of that to end its session.
        channel.write(ByteBuffer(bytes: response), promise: nil)
        try install(channel)
        channel.flush()
        pipeline.removeHandler(context: self, promise: nil)
        // What came behind the request goes to the handler that was just added, which takes it
        // for a whole read only when it is told so.
        let handedOver = eventLoop.makePromise(of: Void.self)
        handedOver.futureResult.whenSuccess { channel.pipeline.fireChannelReadComplete() }
        pipeline.removeHandler(context: decoder, promise: handedOver)
      } catch {
        channel.close(promise: nil)
      }
    }
  }

  extension RESTRequest {
    /// Returns the error for a read that took longer than the client's own time limit.
    fileprivate func objection(toTaking time: TimeAmount) -> RESTError? {
      guard method.isRead, let limit = parameters.timeoutMilliseconds,
        time > .milliseconds(Int64(limit))
      else { return nil }
      return .late(milliseconds: limit)
    }
  }
#endif
