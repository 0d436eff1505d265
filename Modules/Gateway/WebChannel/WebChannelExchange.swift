#if TCP
  import NIOCore
  import TernDocumentWire

  /// A request over WebChannel that waits for its response; on the event loop.
  struct WebChannelExchange {
    let loop: any EventLoop
    /// Returns true while there is a connection to respond over.
    let isAlive: () -> Bool
    /// Takes the work that is due when the connection ends.
    let whenGone: (@escaping () -> Void) -> Void
    /// Sends a whole response.
    let answer: (HTTPResponse) -> Void
    /// Begins a response whose length is not known yet.
    let begin: (HTTPResponse) -> Void
    /// Sends a part of it; the promise is kept once it has left.
    let send: ([UInt8], EventLoopPromise<Void>) -> Void
    /// Ends it.
    let finish: () -> Void
    /// Ends the connection at once, without what was sent.
    let cut: () -> Void

    /// Sends a whole response of one chunk, or an empty one.
    func answer(_ body: [UInt8], _ fields: [(name: String, value: String)] = []) {
      var response = HTTPResponse(status: 200, headers: WebChannelChunk.headers, body: body)
      for field in fields { response.headers.append(field.name, field.value) }
      answer(response)
    }
  }

  extension WebChannelExchange {
    /// The request that a connection is answering, for a response that may take long.
    init(_ handler: HTTPHandler, _ context: ChannelHandlerContext) {
      // The connection may go on to another request while this one's session still holds the
      // exchange.
      let number = handler.requestNumber
      let isAlive = {
        handler.isAnswering && handler.requestNumber == number && context.channel.isActive
      }
      self.init(
        loop: context.eventLoop, isAlive: isAlive, whenGone: { handler.whenGone = $0 },
        answer: { if isAlive() { handler.answer($0, context) } },
        begin: { if isAlive() { handler.beginStream($0, context) } },
        send: { bytes, sent in
          guard isAlive() else { return sent.succeed() }
          handler.stream(ByteBuffer(bytes: bytes), context)
          handler.flushStream(sent, context)
        },
        finish: {
          if isAlive() { handler.completeStream(context) }
        },
        cut: { if isAlive() { context.close(promise: nil) } })
    }

    /// Serves the request.
    ///
    /// Errors before a session is found are answered here; later ones by ``WebChannelTable``.
    func serve(
      _ method: DocumentMethod, _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller,
      _ context: GatewayContext
    ) {
      do throws(WebChannelError) {
        let channel = try WebChannelRequest(method, request, target)
        try context.channels.table(on: loop).value.receive(
          WebChannelArrival(channel, request, target, caller), context, self)
      } catch {
        answer(error.response)
      }
    }
  }
#endif
