#if TCP
  import NIOCore
  import NIOHTTP1
  import NIOWebSocket
  import TernTransportTCP

  /// The requests and answers that turn an HTTP connection into a WebSocket.
  /// Source: RFC 6455, section 4.
  struct WebSocketUpgrade: Sendable {
    /// The path of the request; at a server, the only one that opens a WebSocket.
    private let path: String
    /// The port that the field `Host` leaves out: 80, or 443 with TLS.
    private let standardPort: Int
    /// The time that a client waits for the answer to its request.
    private let requestTimeout: TimeAmount
    /// The time that a server waits for a request.
    private let answerTimeout: TimeAmount
    /// The source of a client's masking keys. The key of the handshake is drawn by the library.
    private let randomBits: @Sendable () -> UInt64

    init(_ options: WebSocketOptions, randomBits: @escaping @Sendable () -> UInt64) {
      self.randomBits = randomBits
      path = options.path
      let connection = options.connection
      standardPort = connection.tls == nil ? 80 : 443
      requestTimeout = .seconds(Int64(connection.connectTimeoutSeconds))
      answerTimeout = .seconds(Int64(connection.preambleTimeoutSeconds))
    }

    /// Sets up a connecting channel: asks for the WebSocket once the connection is there.
    ///
    /// - Parameters:
    ///   - address: The server, for the field `Host`.
    ///   - failed: Receives the reason when no WebSocket is opened; called once or more.
    ///   - ready: Adds the framing when the WebSocket is open.
    func request(
      on channel: any Channel, to address: TCPAddress,
      failed: @escaping @Sendable (any Error) -> Void,
      ready: @escaping LinkInstallation
    ) throws {
      let upgrader = ClientUpgrader { [randomBits] in
        try WebSocketTunnel.open(on: $0, as: .client(randomBits), for: nil, ready)
      }
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHTTPClientHandlers(
        // A server may send frames right behind its answer; they belong to the WebSocket.
        leftOverBytesStrategy: .forwardBytes,
        withClientUpgrade: (
          upgraders: [upgrader],
          completionHandler: { context in
            context.pipeline.removeHandler(name: WebSocketRequestHandler.name, promise: nil)
          }
        ))
      try pipeline.addHandler(
        WebSocketRequestHandler(head(to: address), timeout: requestTimeout, failed: failed),
        name: WebSocketRequestHandler.name)
    }

    /// The request that asks for the WebSocket; the upgrader adds the rest.
    private func head(to address: TCPAddress) -> HTTPRequestHead {
      let name = address.host.contains(":") ? "[\(address.host)]" : address.host
      let host = address.port == standardPort ? name : address.description
      var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path)
      head.headers.add(name: "Host", value: host)
      head.headers.add(name: "Sec-WebSocket-Protocol", value: WebSocketTunnel.subprotocol)
      return head
    }

    /// Sets up an accepted channel: answers requests for the WebSocket, and denies all others.
    ///
    /// A request is answered with 101 when ``isWanted(_:at:)`` holds, otherwise with 404 by
    /// ``WebSocketDenialHandler``; the connection ends then.
    func answer(on channel: any Channel, ready: @escaping LinkInstallation) throws {
      let path = path
      let upgrader = ServerUpgrader {
        Self.isWanted($0, at: path) ? Self.fields : nil
      } open: {
        try WebSocketTunnel.open(on: $0, as: .server, for: nil, ready)
      }
      let pipeline = channel.pipeline.syncOperations
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false,
        withServerUpgrade: (
          upgraders: [upgrader],
          completionHandler: { context in
            context.pipeline.removeHandler(name: WebSocketDenialHandler.name, promise: nil)
          }
        ))
      try pipeline.addHandler(
        WebSocketDenialHandler(timeout: answerTimeout), name: WebSocketDenialHandler.name)
    }

    /// The fields of a positive answer, beside those of the handshake.
    private static let fields: HTTPHeaders = [
      "Sec-WebSocket-Protocol": WebSocketTunnel.subprotocol
    ]

    /// Requests of web pages name their origin and are denied: a page could speak for its reader.
    private static func isWanted(_ head: HTTPRequestHead, at path: String) -> Bool {
      head.uri == path && !head.headers.contains(name: "Origin")
        && head.headers[canonicalForm: "Sec-WebSocket-Protocol"]
          .contains { $0 == WebSocketTunnel.subprotocol }
    }
  }

  /// The client's half of the library's opening handshake, with our own handlers behind it.
  ///
  /// The library's own class also installs its frame encoder, which is slow for large frames.
  /// So it makes and checks the fields of the handshake, and ``WebSocketTunnel`` installs the
  /// handlers.
  private final class ClientUpgrader: NIOHTTPClientProtocolUpgrader, Sendable {
    let supportedProtocol = "websocket"
    let requiredUpgradeHeaders: [String] = []
    private let handshake = NIOWebSocketClientUpgrader { channel, _ in
      channel.eventLoop.makeSucceededVoidFuture()
    }
    private let open: @Sendable (any Channel) throws -> Void

    init(open: @escaping @Sendable (any Channel) throws -> Void) { self.open = open }

    func addCustom(upgradeRequestHeaders: inout HTTPHeaders) {
      handshake.addCustom(upgradeRequestHeaders: &upgradeRequestHeaders)
    }

    func shouldAllowUpgrade(upgradeResponse: HTTPResponseHead) -> Bool {
      handshake.shouldAllowUpgrade(upgradeResponse: upgradeResponse)
    }

    func upgrade(
      context: ChannelHandlerContext, upgradeResponse: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
      context.eventLoop.makeCompletedFuture { try open(context.channel) }
    }
  }

  /// The server's half of the library's opening handshake, with our own handlers behind it.
  private final class ServerUpgrader: HTTPServerProtocolUpgrader, Sendable {
    let supportedProtocol = "websocket"
    let requiredUpgradeHeaders: [String] = []
    private let handshake: NIOWebSocketServerUpgrader
    private let open: @Sendable (any Channel) throws -> Void

    /// - Parameters:
    ///   - allow: The fields to add to the answer; `nil` denies the request.
    ///   - open: Adds the handlers of the open WebSocket, on the event loop.
    init(
      allow: @escaping @Sendable (HTTPRequestHead) -> HTTPHeaders?,
      open: @escaping @Sendable (any Channel) throws -> Void
    ) {
      handshake = NIOWebSocketServerUpgrader { channel, head in
        channel.eventLoop.makeSucceededFuture(allow(head))
      } upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeSucceededVoidFuture()
      }
      self.open = open
    }

    func buildUpgradeResponse(
      channel: any Channel, upgradeRequest: HTTPRequestHead, initialResponseHeaders: HTTPHeaders
    ) -> EventLoopFuture<HTTPHeaders> {
      handshake.buildUpgradeResponse(
        channel: channel, upgradeRequest: upgradeRequest,
        initialResponseHeaders: initialResponseHeaders)
    }

    func upgrade(
      context: ChannelHandlerContext, upgradeRequest: HTTPRequestHead
    ) -> EventLoopFuture<Void> {
      context.eventLoop.makeCompletedFuture { try open(context.channel) }
    }
  }

  /// Sends the request for a WebSocket, and reports an answer that denies it.
  ///
  /// It is removed when the server has agreed. Any head that reaches it is an answer that does
  /// not open a WebSocket, because the upgrader keeps the other one.
  private final class WebSocketRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    static let name = "tern.websocket.request"

    private let head: HTTPRequestHead
    private let timeout: TimeAmount
    private let failed: @Sendable (any Error) -> Void
    private var timer: Scheduled<Void>?

    init(
      _ head: HTTPRequestHead, timeout: TimeAmount, failed: @escaping @Sendable (any Error) -> Void
    ) {
      self.head = head
      self.timeout = timeout
      self.failed = failed
    }

    func channelActive(context: ChannelHandlerContext) {
      // A port of the range for outgoing connections, without a server, may connect to itself;
      // the request would come back as an answer that makes no sense.
      if let here = context.localAddress, here == context.remoteAddress {
        return fail(SelfConnection(), context)
      }
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [self] in
        fail(ChannelError.connectTimeout(timeout), context)
      }
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .head(let answer) = unwrapInboundIn(data) else { return }
      fail(
        UpgradeFailure("it answered HTTP \(answer.status.code) and opened no WebSocket"), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      fail(UpgradeFailure("it opened no WebSocket: \(error)"), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
      fail(UpgradeFailure("it ended the connection and opened no WebSocket"), context)
      context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      timer?.cancel()
      timer = nil
    }

    /// Reports a failure and closes the channel. The receiver takes the first report and
    /// ignores others.
    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
      timer?.cancel()
      failed(error)
      context.close(promise: nil)
    }
  }

  /// An answer that opens no WebSocket.
  private struct UpgradeFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// Denies requests that ask for no WebSocket, and ends connections that ask for nothing in time.
  ///
  /// It is removed when a WebSocket opens, and its timer with it.
  private final class WebSocketDenialHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    static let name = "tern.websocket.denial"

    private let timeout: TimeAmount
    private var timer: Scheduled<Void>?

    init(timeout: TimeAmount) { self.timeout = timeout }

    func channelActive(context: ChannelHandlerContext) {
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
        context.close(promise: nil)
      }
      context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .head = unwrapInboundIn(data) else { return }
      let head = HTTPResponseHead(
        version: .http1_1, status: .notFound,
        headers: ["Content-Length": "0", "Connection": "close"])
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      let channel = context.channel
      let sent = context.eventLoop.makePromise(of: Void.self)
      // Closed behind the answer: a client may ask once.
      sent.futureResult.whenComplete { _ in channel.close(promise: nil) }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      timer = nil
      context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      timer?.cancel()
      timer = nil
    }
  }
#endif
