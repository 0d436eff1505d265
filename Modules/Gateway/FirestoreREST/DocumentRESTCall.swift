#if TCP
  import NIOCore
  import TernCore
  import TernDocumentWire

  /// One request to the documents' REST service under way: a call of the session of its connection,
  /// and the answer that its messages become.
  ///
  /// A method with one message is answered at once, with its length. Others begin to answer
  /// when the first messages have come, in chunks; the client's pace stops and resumes the
  /// call.
  final class DocumentRESTCall: DocumentCallReceiver {
    private let request: DocumentRESTRequest
    private var writer: DocumentRESTWriter
    private let handler: HTTPHandler
    private let context: ChannelHandlerContext
    /// Held until the end; it holds this object as its receiver.
    private var call: DocumentGatewayCall?
    /// The part of the body that was not handed on.
    private var outbox: [UInt8] = []
    /// True once the head of the answer has left.
    private var hasBegun = false
    private var isFlushScheduled = false
    /// Bytes that the client has not taken.
    private var unsentBytes = 0

    /// Bytes that leave in one piece.
    private static let pieceBytes = 64 << 10
    /// The bytes on their way to the client beyond which no more messages are read, and those below
    /// which they are read again.
    private static let highBytes = 256 << 10
    private static let lowBytes = 64 << 10

    init(_ request: DocumentRESTRequest, of handler: HTTPHandler, _ context: ChannelHandlerContext)
    {
      self.request = request
      self.handler = handler
      self.context = context
      writer = DocumentRESTWriter(request.method, request.parameters)
    }

    /// Begins the call.
    ///
    /// - Parameter message: The request in protobuf.
    func start(_ message: [UInt8], in session: DocumentGatewaySession) {
      let metadata = request.authorization.map {
        [DocumentCallOpening.Entry("authorization", $0)]
      }
      handler.whenGone = { [weak self] in self?.cancel() }
      call = session.begin(
        request.method.rawValue, metadata: metadata ?? [], message: message, to: self)
    }

    private func cancel() { call?.cancel() }

    func callDidReceive(_ message: [UInt8]) {
      do throws(DocumentRESTError) {
        outbox += try writer.write(message)
      } catch {
        call?.cancel()
        return end(error)
      }
      guard request.method.streamsResponses else { return }
      if outbox.count >= Self.pieceBytes { flush() } else { scheduleFlush() }
    }

    func callDidEnd(_ status: DocumentStatus?) { end(status.map { DocumentRESTError($0) }) }

    /// Ends the answer. An error before the head is the status; behind it, it is the last
    /// element of the array, as the service has it.
    private func end(_ error: DocumentRESTError?) {
      handler.whenGone = nil
      guard handler.isAnswering else { return }
      let isStream = request.method.streamsResponses
      if let error {
        guard hasBegun else {
          let isPretty = request.parameters.isPretty
          return handler.answer(error.response(isStream: isStream, isPretty: isPretty), context)
        }
        outbox += writer.write(error)
      }
      outbox += writer.finish()
      if hasBegun {
        flush()
        return handler.completeStream(context)
      }
      var response = HTTPResponse(
        status: 200, headers: Self.headers, body: exchange(&outbox, with: []))
      response.isOutcome = request.method.isOutcome(ofBytes: response.body.count)
      handler.answer(response, context)
    }

    private static let headers: HTTPFields = [
      ("Content-Type", DocumentRESTError.jsonType), ("Cache-Control", "private"),
      ("X-Content-Type-Options", "nosniff"),
    ]

    /// Lets messages that come together leave together, and a short answer with its length.
    private func scheduleFlush() {
      if isFlushScheduled { return }
      isFlushScheduled = true
      let call = NIOLoopBound(self, eventLoop: context.eventLoop)
      context.eventLoop.execute {
        call.value.isFlushScheduled = false
        call.value.flush()
      }
    }

    /// Sends what has gathered, after the head if that has not left.
    private func flush() {
      guard handler.isAnswering, !outbox.isEmpty else { return }
      if !hasBegun {
        hasBegun = true
        handler.beginStream(HTTPResponse(status: 200, headers: Self.headers), context)
        handler.startTimer(handler.limits.bodySeconds, context)
      }
      let bytes = exchange(&outbox, with: [])
      unsentBytes += bytes.count
      if unsentBytes > Self.highBytes { call?.setReading(false) }
      let call = NIOLoopBound(self, eventLoop: context.eventLoop)
      let sent = context.eventLoop.makePromise(of: Void.self)
      sent.futureResult.whenSuccess { call.value.didSend(bytes.count) }
      handler.stream(ByteBuffer(bytes: bytes), context)
      handler.flushStream(sent, context)
    }

    /// Counts bytes that the client has taken; between both marks nothing changes.
    private func didSend(_ bytes: Int) {
      unsentBytes -= bytes
      // A client that takes what is sent has its time again.
      if handler.isAnswering { handler.startTimer(handler.limits.bodySeconds, context) }
      if unsentBytes <= Self.lowBytes { call?.setReading(true) }
    }
  }
#endif
