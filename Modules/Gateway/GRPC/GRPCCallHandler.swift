#if TCP
  import NIOCore
  import NIOHPACK
  import NIOHTTP2
  import TernCore
  import TernDocumentWire
  import TernServer
  import TernTransport

  /// The channel handler of one stream of HTTP/2: it carries a call of gRPC, unless its head tells
  /// otherwise. Then the handlers of HTTP/1.1 take its place.
  ///
  /// Messages pass as they are; the server reads them. Source: Docs/Formats/gateway.md, "gRPC".
  final class GRPCCallHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private enum Stage {
      /// Waits for the head.
      case fresh
      /// Waits for the only message of a call, and for the end of the request.
      case collecting(GRPCRequestHead, DocumentMethod, DocumentGatewaySession, message: [UInt8]?)
      case open(DocumentGatewayCall)
      case ended
      /// Leaves the stream to other handlers.
      case replaced
    }

    private let connection: HTTP2Connection
    private var stage = Stage.fresh
    private var reader: GRPCMessageReader
    /// The bytes charged for messages that are not whole, or wait for the end of the request.
    private var heldBytes = 0
    private var place: ChannelHandlerContext?
    private var contentType = GRPCRequestHead.contentTypePrefix
    /// The compression of the answer's messages; `nil` for none.
    private var answerCoding: MessageCoding?
    /// The called method, once it is known.
    private var method: DocumentMethod?
    private var isHeadSent = false
    private var isInputEnded = false
    private var isFlushPending = false
    /// True when the stream is closed.
    private var isClosed = false
    private var deadline: Scheduled<Void>?
    private var limit: Scheduled<Void>?
    /// The call for the access log, until it is told.
    private var record: (path: String, record: RequestRecord)?
    private var answerBytes = 0

    init(_ connection: HTTP2Connection) {
      self.connection = connection
      reader = GRPCMessageReader(limit: connection.limits.http2.messageBytes)
    }

    private var limits: GatewayLimits { connection.limits }

    /// The most characters of a client's text in a sentence.
    private static let shownCharacters = 40

    func handlerAdded(context: ChannelHandlerContext) {
      place = context
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if case .replaced = stage { return context.fireChannelRead(data) }
      switch unwrapInboundIn(data) {
      case .headers(let headers):
        isInputEnded = headers.endStream
        if case .fresh = stage {
          switch HTTP2StreamRouter.route(headers.headers, context, connection) {
          case .grpc: begin(headers.headers, context)
          case .refused: stage = .ended
          case .http:
            stage = .replaced
            context.fireChannelRead(data)
            return context.pipeline.syncOperations.removeHandler(self, promise: nil)
          }
        }
        if headers.endStream { endInput() }
      case .data(let data):
        isInputEnded = data.endStream
        if case .byteBuffer(let bytes) = data.data, bytes.readableBytes > 0 { receive(bytes) }
        if data.endStream { endInput() }
      case .rstStream, .priority, .settings, .pushPromise, .ping, .goAway, .windowUpdate,
        .alternativeService, .origin:
        break
      }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      // Most requests are complete with the read that brings their head, and need no limit.
      if case .collecting = stage, limit == nil { startLimit(context) }
      context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      if case .open(let call) = stage { call.setReading(context.channel.isWritable) }
      context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
      isClosed = true
      abandon()
      context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      abandon()
      place = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if case .replaced = stage { return context.fireErrorCaught(error) }
      abandon()
      context.close(promise: nil)
    }

    /// Stops or resumes what the client sends.
    func setReading(_ isOn: Bool) {
      if let place { HalfClose.setReading(isOn, place.channel) }
    }

    /// Ends the call, whose client is gone.
    private func abandon() {
      if case .open(let call) = stage { call.cancel() }
      stage = .ended
      stopLimit()
      settle()
      tell(status: isHeadSent ? 200 : 0, nil)
      connection.remove(self)
    }

    /// Tells the access log of the call, once.
    private func tell(status: Int, _ grpcStatus: Int?) {
      guard let told = exchange(&record, with: nil) else { return }
      told.record.end(
        callAt: told.path, status: status, grpcStatus: grpcStatus, bytes: answerBytes,
        at: connection.address, connection.setting)
    }

    /// Releases what was held for the request.
    private func settle() {
      deadline?.cancel()
      hold(0)
    }

    /// Charges the bytes that are held of the request now.
    ///
    /// - Returns: `false` when the client may not hold as many.
    @discardableResult
    private func hold(_ bytes: Int) -> Bool {
      let load = connection.setting.load
      if bytes <= heldBytes {
        load.release(heldBytes - bytes, for: connection.address)
      } else if !load.hold(
        bytes - heldBytes, limit: limits.heldBodyBytes, for: connection.address)
      {
        return false
      }
      heldBytes = bytes
      return true
    }
  }

  // MARK: - The request

  extension GRPCCallHandler {
    private func begin(_ headers: HPACKHeaders, _ context: ChannelHandlerContext) {
      connection.add(self)
      record = (headers.first(name: ":path") ?? "-", RequestRecord())
      let head: GRPCRequestHead
      do throws(GRPCRequestHead.HTTPRejection) { head = try GRPCRequestHead(headers) } catch {
        return reject(error.status)
      }
      contentType = head.contentType
      if !connection.isReading { setReading(false) }
      switch head.compression {
      case .none: break
      case .unknown(let name):
        let text = "Messages compressed as \(name.prefix(Self.shownCharacters)) are not supported."
        return finish(DocumentStatus(.unimplemented, text))
      case .coding(let coding, let isAnswered):
        if isAnswered { answerCoding = coding }
        reader = GRPCMessageReader(limit: limits.http2.messageBytes, decompressing: coding)
      }
      switch GRPCMethod(path: head.path) {
      case .unserved(let status): finish(status)
      case .documents(let method):
        self.method = method
        startDeadline(head.timeout, context)
        let session = connection.session(for: headers)
        if method.streamsRequests {
          stage = .open(session.begin(method.rawValue, metadata: head.metadata, to: self))
          sendHead()
          flushSoon()
        } else {
          stage = .collecting(head, method, session, message: nil)
        }
      }
    }

    private func receive(_ bytes: ByteBuffer) {
      switch stage {
      case .collecting, .open: break
      case .fresh, .ended, .replaced: return
      }
      // What is read now counts before it is read.
      guard hold(heldBytes + bytes.readableBytes) else {
        return abort(DocumentStatus(.resourceExhausted, "Too many requests are being read."))
      }
      do throws(GRPCMessageReader.Failure) {
        try reader.read(Array(bytes.readableBytesView)[...]) { receive($0) }
      } catch {
        return abort(error.status)
      }
      var held = reader.heldBytes
      if case .collecting(_, _, _, let message?) = stage { held += message.count }
      // A message that was compressed is more than what came.
      if !hold(held) {
        abort(DocumentStatus(.resourceExhausted, "Too many requests are being read."))
      }
    }

    private func receive(_ message: [UInt8]) {
      switch stage {
      case .open(let call): call.send(message)
      case .collecting(let head, let method, let session, nil):
        stage = .collecting(head, method, session, message: message)
      case .collecting: abort(DocumentStatus(.internalError, "The method takes one message."))
      case .fresh, .ended, .replaced: break
      }
    }

    /// Handles the end of what the client sends.
    private func endInput() {
      if reader.heldBytes > 0 {
        return abort(DocumentStatus(.internalError, "The last message is not complete."))
      }
      switch stage {
      case .open(let call): call.halfClose()
      case .collecting(let head, let method, let session, let message):
        stopLimit()
        let call = session.begin(
          method.rawValue, metadata: head.metadata, message: message, to: self)
        stage = .open(call)
        hold(0)
        if message == nil { call.halfClose() }
      case .fresh, .ended, .replaced: break
      }
    }

    private func startDeadline(_ time: TimeAmount?, _ context: ChannelHandlerContext) {
      guard let time else { return }
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      deadline = context.eventLoop.scheduleTask(in: time) {
        handler.value.abort(DocumentStatus(.deadlineExceeded, "Deadline Exceeded"))
      }
    }

    /// Ends the stream when its client neither sends nor reads what is left in time.
    private func startLimit(_ context: ChannelHandlerContext) {
      let channel = context.channel
      limit = context.eventLoop.scheduleTask(in: .seconds(Int64(limits.bodySeconds))) {
        channel.close(promise: nil)
      }
    }

    private func stopLimit() {
      limit?.cancel()
      limit = nil
    }

    /// Ends the call from this side.
    private func abort(_ status: DocumentStatus) {
      if case .open(let call) = stage { call.cancel() }
      finish(status)
    }
  }

  // MARK: - The answer

  extension GRPCCallHandler: DocumentCallReceiver {
    func callDidReceive(_ message: [UInt8]) {
      if let answerCoding, message.count >= MessageCoding.worthBytes,
        let compressed = answerCoding.compress(message)
      {
        return send(GRPCMessageBuffer(compressed, isCompressed: true).bytes)
      }
      send(GRPCMessageBuffer(message, isCompressed: false).bytes)
    }

    // What is compressed differs from call to call.
    func takes(together messages: SharedFrames) -> Bool { answerCoding == nil }

    func callDidReceive(together messages: SharedFrames) {
      send(messages.form(GRPCMessageBuffer.init).bytes)
    }

    /// Sends whole messages.
    private func send(_ bytes: ByteBuffer) {
      guard let place, case .open(let call) = stage else { return }
      let count = bytes.readableBytes
      answerBytes += count
      let (load, address) = (connection.setting.load, connection.address)
      if !load.holdAnswer(count, limit: limits.heldAnswerBytes, for: address) {
        guard method?.isOutcome(ofBytes: count) ?? false else {
          return abort(DocumentStatus(.unavailable, "The call's messages are read too slowly."))
        }
        load.countAnswer(count, for: address)
      }
      sendHead()
      let sent = place.eventLoop.makePromise(of: Void.self)
      sent.futureResult.whenComplete { _ in load.releaseAnswer(count, for: address) }
      write(.data(.init(data: .byteBuffer(bytes))), sent)
      if !place.channel.isWritable { call.setReading(false) }
      flushSoon()
    }

    func callDidEnd(_ status: DocumentStatus?) { finish(status) }

    private func sendHead() {
      if exchange(&isHeadSent, with: true) { return }
      var headers: HPACKHeaders = [
        ":status": "200", "content-type": contentType,
        "grpc-accept-encoding": MessageCoding.accepted,
      ]
      if let answerCoding { headers.add(name: "grpc-encoding", value: answerCoding.rawValue) }
      write(.headers(.init(headers: headers)))
    }

    /// Sends the status, in trailers or as the only head of the answer.
    private func finish(_ status: DocumentStatus?) {
      if case .ended = stage { return }
      var trailers = HPACKHeaders()
      if !isHeadSent {
        trailers.add(name: ":status", value: "200")
        trailers.add(name: "content-type", value: contentType)
        trailers.add(name: "grpc-accept-encoding", value: MessageCoding.accepted)
      }
      trailers.add(name: "grpc-status", value: "\(status?.code.rawValue ?? 0)")
      if let status {
        trailers.add(name: "grpc-message", value: GRPCStatusText.encode(status.message))
      }
      tell(status: 200, status?.code.rawValue ?? 0)
      end(trailers)
    }

    /// Answers a request that is not gRPC as it is served.
    private func reject(_ status: Int) {
      tell(status: status, nil)
      var headers: HPACKHeaders = [":status": "\(status)"]
      if status == 405 { headers.add(name: "allow", value: "POST") }
      end(headers)
    }

    private func end(_ headers: HPACKHeaders) {
      stage = .ended
      isHeadSent = true
      stopLimit()
      settle()
      guard let place else { return }
      let sent = place.eventLoop.makePromise(of: Void.self)
      write(.headers(.init(headers: headers, endStream: true)), sent)
      // The rest of the request is not read. A reset would take back what flow control still holds.
      let handler = NIOLoopBound(self, eventLoop: place.eventLoop)
      sent.futureResult.whenSuccess { handler.value.resetInput() }
      flushSoon()
    }

    private func resetInput() {
      if isInputEnded { return }
      write(.rstStream(.noError))
      flushSoon()
    }

    private func write(
      _ payload: HTTP2Frame.FramePayload, _ promise: EventLoopPromise<Void>? = nil
    ) {
      place?.write(wrapOutboundOut(payload), promise: promise)
    }

    /// Lets what was written leave with everything else of this turn of the loop.
    private func flushSoon() {
      if place == nil || exchange(&isFlushPending, with: true) { return }
      connection.flushSoon(self)
    }

    /// Hands what was written to the connection.
    func flush() {
      isFlushPending = false
      guard let place else { return }
      place.flush()
      // A stream that is still open has a client that sends more, or does not read.
      if case .ended = stage, limit == nil, !isClosed { startLimit(place) }
    }
  }
#endif
