#if TCP
  import NIOCore
  import NIOHTTP1
  import TernServer
  import TernTransport
  import TernTransportTCP

  /// The channel handler of one HTTP connection: puts requests together, one at a time, hands
  /// them to the router, and sends the answers.
  final class HTTPHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Stage {
      /// Waits for the head of the next request.
      case idle
      /// Has the head, and a part of the body.
      case reading(HTTPRequest)
      /// The request is being answered; what comes meanwhile waits.
      case answering(HTTPRequest)
      /// The connection ends, or has become something else.
      case done
    }

    let setting: GatewayContext
    private var stage = Stage.idle
    /// Parts of the requests behind the one that is answered; reading has stopped.
    private var waiting: [HTTPServerRequestPart] = []
    private var heldBytes = 0
    /// The memory charged for the request while it is decided.
    var parsing: MemoryCharge?
    /// The client's address, without its port.
    private(set) var address = "unknown"
    /// The client that a trusted proxy has named for the connection.
    private var proxied: (address: String, port: Int)?
    private var timer: Scheduled<Void>?
    /// True for a stream of HTTP/2, whose connection is counted.
    private let isStream: Bool
    /// The address that the connection is counted for.
    private var counted: String?
    /// The record of the request that is read or answered.
    private var record = RequestRecord()
    /// Counts requests, so that a late answer is not given to the next one.
    private(set) var requestNumber = 0
    /// The answer that goes on for as long as the connection.
    var streaming: StreamingAnswer?
    /// The work that is due when the connection ends.
    var whenGone: (() -> Void)?
    /// The source of an answer that is sent piece by piece.
    var exporting: ExportPump?
    /// The service of documents for this connection, once it was asked for.
    var documents: DocumentRESTEndpoint?

    var limits: GatewayLimits { setting.options.limits }

    /// - Parameter isStream: True for a stream of HTTP/2, whose connection is counted.
    init(_ setting: GatewayContext, isStream: Bool = false) {
      self.setting = setting
      self.isStream = isStream
    }

    func handlerAdded(context: ChannelHandlerContext) {
      proxied = ProxiedPeer.of(context.channel)
      address = proxied?.address ?? context.channel.remoteAddress?.ipAddress ?? "unknown"
      startTimer(limits.headSeconds, context)
      if isStream { return }
      let isProxy = setting.proxies.contains(address)
      if setting.load.enter(address, limit: limits.connections, isProxy: isProxy) {
        counted = address
      } else {
        let text = "Too many connections are open already, of all addresses or of this one."
        answer(RESTError(503, text).response, context)
      }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      stopTimer()
      release()
      if let counted { setting.load.leave(counted) }
      counted = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      take(unwrapInboundIn(data), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      switch stage {
      case .idle, .reading:
        answer(HTTPHeadRules.objection(to: error, context).response, context)
      case .answering, .done: context.close(promise: nil)
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      stage = .done
      stopTimer()
      exchange(&streaming, with: nil)?.end()
      exchange(&exporting, with: nil)?.cancel()
      exchange(&whenGone, with: nil)?()
      exchange(&documents, with: nil)?.end()
      context.fireChannelInactive()
    }
  }

  // MARK: - Reading

  extension HTTPHandler {
    private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
      switch (stage, part) {
      case (.idle, .head(let head)): begin(head, context)
      case (.reading(var request), .body(let bytes)):
        stage = .idle
        guard hold(bytes.readableBytes) else {
          return answer(.tooMany(request).readable(by: request), context)
        }
        guard request.body.count + bytes.readableBytes <= limits.bodyBytes(of: request) else {
          return answer(.tooLarge(request, limits).readable(by: request), context)
        }
        request.body.append(contentsOf: bytes.readableBytesView)
        stage = .reading(request)
      case (.reading(let request), .end): finish(request, context)
      case (.answering, _):
        waiting.append(part)
        HalfClose.setReading(false, context.channel)
      case (.idle, _), (.reading, .head), (.done, _): break
      }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
      let request = HTTPRequest(
        method: head.method.rawValue, target: HTTPHeadRules.originForm(of: head),
        headers: HTTPFields(head.headers.map { (name: $0.name, value: $0.value) }),
        peer: RequestRecord.peer(proxied, context.channel),
        isOld: head.version == .http1_0,
        isKeepAlive: head.isKeepAlive)
      // A request of HTTP/2 has the form of one of HTTP/1.1 here.
      let minor = head.version.major == 2 ? 1 : head.version.major == 1 ? head.version.minor : nil
      if let objection = HTTPHeadRules.objection(to: request, minor: minor) {
        return answer(objection.response.readable(by: request), context)
      }
      // A length that is no number here is one that is larger than any limit.
      if let length = request.headers["content-length"],
        (Int(length[...].trimmed) ?? .max) > limits.bodyBytes(of: request)
      {
        return answer(.tooLarge(request, limits).readable(by: request), context)
      }
      if request.headers["expect"]?.lowercased() == "100-continue" {
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
      }
      stage = .reading(request)
      record = RequestRecord()
      startTimer(limits.bodySeconds, context)
    }

    private func finish(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
      // The handler of the request has the body; it need not be kept here until the answer.
      var head = request
      head.body = []
      stage = .answering(head)
      requestNumber += 1
      stopTimer()
      route(request, context)
    }

    /// Goes on with what came while a request was answered.
    private func goOn(_ context: ChannelHandlerContext) {
      stage = .idle
      startTimer(limits.headSeconds, context)
      let parts = exchange(&waiting, with: [])
      for (index, part) in parts.enumerated() {
        if case .answering = stage {
          waiting = Array(parts[index...])
          return
        }
        take(part, context)
      }
      HalfClose.setReading(true, context.channel)
    }
  }

  // MARK: - Answering

  extension HTTPHandler {
    /// Sends an answer; the connection goes on to the next request, or ends.
    func answer(_ response: HTTPResponse, _ context: ChannelHandlerContext) {
      let request: HTTPRequest?
      switch stage {
      case .done: return
      case .answering(let answered): request = answered
      // Behind a request that was not read to its end, the start of the next one is unknown.
      case .idle, .reading: request = nil
      }
      let isLast =
        response.isLast || !(request?.isKeepAlive ?? false) || setting.admin.isDraining()
      release()
      let (response, heldBytes) = setting.load.hold(response, limits, for: address)
      record.end(request, response, at: address, setting)
      write(head(response, request, isLast: isLast), context)
      if !response.body.isEmpty, request?.method != "HEAD" {
        write(.body(.byteBuffer(ByteBuffer(bytes: response.body))), context)
      }
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let place = context.loopBound
      let sent = context.eventLoop.makePromise(of: Void.self)
      let (load, address) = (setting.load, address)
      sent.futureResult.whenComplete { _ in load.releaseAnswer(heldBytes, for: address) }
      startTimer(limits.bodySeconds, context)
      if isLast {
        stage = .done
        end(behind: sent, context)
      } else {
        sent.futureResult.whenSuccess { handler.value.goOn(place.value) }
      }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
    }

    private func end(behind sent: EventLoopPromise<Void>, _ context: ChannelHandlerContext) {
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let place = context.loopBound
      HalfClose.setReading(true, context.channel)
      sent.futureResult.whenSuccess {
        place.value.channel.close(mode: .output, promise: nil)
        handler.value.startTimer(handler.value.limits.lingerSeconds, place.value)
      }
    }

    func write(_ part: HTTPServerResponsePart, _ context: ChannelHandlerContext) {
      context.write(wrapOutboundOut(part), promise: nil)
    }

    private func head(
      _ response: HTTPResponse, _ request: HTTPRequest?, isLast: Bool
    ) -> HTTPServerResponsePart {
      var response = response
      if let request, !response.isPrivate { CrossOrigin.allow(request, in: &response) }
      var headers = HTTPHeaders(response.headers.all.map { ($0.name, $0.value) })
      let hasBody = response.status != 204 && response.status != 304
      if hasBody { headers.add(name: "Content-Length", value: "\(response.body.count)") }
      if let host = response.otherHost, let request {
        // Whether it is over TLS stays as it is; the query, with who asks, goes along.
        headers.add(name: "Location", value: "//\(host)\(request.target)")
      }
      headers.add(name: "Connection", value: isLast ? "close" : "keep-alive")
      return .head(
        HTTPResponseHead(
          version: .http1_1, status: HTTPResponseStatus(statusCode: response.status),
          headers: headers))
    }

    /// Begins an answer whose length is not known yet.
    func beginStream(_ response: HTTPResponse, _ context: ChannelHandlerContext) {
      guard case .answering(let request) = stage else { return }
      release()
      var response = response
      record.end(request, response, at: address, setting)
      if !response.isPrivate { CrossOrigin.allow(request, in: &response) }
      let headers = HTTPHeaders(response.headers.all.map { ($0.name, $0.value) })
      write(
        .head(
          HTTPResponseHead(
            version: request.isOld ? .http1_0 : .http1_1, status: .ok, headers: headers)), context)
    }

    func stream(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
      if isAnswering { write(.body(.byteBuffer(bytes)), context) }
    }

    /// Lets what was streamed leave; `sent` is told.
    func flushStream(_ sent: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
      guard isAnswering else {
        sent?.succeed()
        return
      }
      // An empty write behind the others is done when they are.
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: sent)
    }

    /// Ends the answer; the connection goes on if the client wants it to.
    func completeStream(_ context: ChannelHandlerContext) {
      guard case .answering(let request) = stage else { return }
      // Without chunks, the end of the connection is the end of the answer.
      guard request.isKeepAlive, !request.isOld else { return endStream(context) }
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let place = context.loopBound
      let sent = context.eventLoop.makePromise(of: Void.self)
      sent.futureResult.whenSuccess { handler.value.goOn(place.value) }
      if timer == nil { startTimer(limits.bodySeconds, context) }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
    }

    /// Ends the answer, and the connection.
    func endStream(_ context: ChannelHandlerContext) {
      guard isAnswering else { return }
      stage = .done
      streaming = nil
      let sent = context.eventLoop.makePromise(of: Void.self)
      if timer == nil { startTimer(limits.bodySeconds, context) }
      end(behind: sent, context)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
    }

    /// The connection becomes something else: nothing more is read or answered here.
    func stepAside() {
      stage = .done
      stopTimer()
      release()
      exchange(&documents, with: nil)?.end()
    }

    /// True while a request is being answered.
    var isAnswering: Bool {
      if case .answering = stage { return true }
      return false
    }
  }

  // MARK: - Limits

  extension HTTPHandler {
    func startTimer(_ seconds: Int, _ context: ChannelHandlerContext) {
      startTimer(.seconds(Int64(seconds)), context)
    }

    func startTimer(_ time: TimeAmount, _ context: ChannelHandlerContext) {
      timer?.cancel()
      let channel = context.channel
      timer = context.eventLoop.scheduleTask(in: time) {
        channel.close(promise: nil)
      }
    }

    func stopTimer() {
      timer?.cancel()
      timer = nil
    }

    private func hold(_ bytes: Int) -> Bool {
      guard setting.load.hold(bytes, limit: limits.heldBodyBytes, for: address) else {
        return false
      }
      heldBytes += bytes
      return true
    }

    /// Counts the body out: its new owner counts it now.
    func releaseBody() {
      setting.load.release(exchange(&heldBytes, with: 0), for: address)
    }

    private func release() {
      releaseBody()
      parsing = nil
    }
  }
#endif
