#if TCP
  import NIOCore
  import NIOWebSocket

  /// The channel handler of an open WebSocket: hands on the bytes of binary messages, cuts what is
  /// sent into messages, and answers pings and the closing handshake.
  ///
  /// The bytes are one stream; the borders of messages mean nothing. Source: RFC 6455, section 5.
  final class WebSocketTunnelHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The side decides which frames have to be masked: those of a client and only those.
    private let side: WebSocketTunnel.Side
    /// Set while the handler is in a pipeline; pongs and the announcement need it outside of
    /// events.
    private var context: ChannelHandlerContext?
    /// True once nothing more is read: after a close frame, or after a breach of the protocol.
    private var isClosing = false
    /// True once a close frame was sent: the protocol allows one.
    private var hasSentClose = false
    /// True while pongs wait for the other end to read them.
    private var isPongUnderway = false
    /// Pongs that were written since bytes began to be read, and are not flushed.
    private var unflushedPongs = 0
    /// The most pings of one read that are answered one by one. A client that sends small pings in
    /// large reads would otherwise make the server write a frame for each.
    private static var pongsPerRead: Int { 16 }
    /// The payload of the newest ping that came meanwhile.
    private var unansweredPing: ByteBuffer?

    init(_ side: WebSocketTunnel.Side) { self.side = side }

    private var isClient: Bool {
      if case .client = side { true } else { false }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Tells the link above that it is open.
    func announce() { context?.fireChannelActive() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if isClosing { return }
      let frame = unwrapInboundIn(data)
      // A client masks, a server never does. Source: RFC 6455, section 5.1.
      guard frame.reservedBits.isEmpty, (frame.maskKey == nil) == isClient else {
        return fail(.protocolError, "a frame breaks the protocol of WebSocket", context)
      }
      switch frame.opcode {
      case .binary, .continuation:
        let bytes = payload(of: frame)
        if bytes.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(bytes)) }
      case .ping: pong(payload(of: frame))
      case .pong: break
      case .connectionClose:
        isClosing = true
        sendClose(.normalClosure, context)
        context.flush()
        context.close(promise: nil)
      case .text: fail(.unacceptableData, "it sent text", context)
      default: fail(.protocolError, "it sent a frame of a reserved kind", context)
      }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      flushPongs()
      context.fireChannelReadComplete()
    }

    /// Cuts bytes into messages. The promise is that of the last one, so it is kept when all
    /// are written.
    func write(
      context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
      var bytes = unwrapOutboundIn(data)
      while bytes.readableBytes > WebSocketTunnel.messageBytes {
        guard let part = bytes.readSlice(length: WebSocketTunnel.messageBytes) else { break }
        send(.binary, part, context, promise: nil)
      }
      // An empty message does no harm, and is written when all before it is.
      send(.binary, bytes, context, promise: promise)
    }

    /// A close of the output says goodbye first; a close of the whole channel does not wait for it.
    func close(
      context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
      if mode == .output {
        sendClose(.normalClosure, context)
        context.flush()
      }
      context.close(mode: mode, promise: promise)
    }
  }

  // MARK: - Control frames

  extension WebSocketTunnelHandler {
    /// Answers a ping. While pongs wait to be read, and behind the first ones of a read, only the
    /// newest ping is kept, so that a peer that never reads makes nothing grow, and one that floods
    /// costs a write now and then. Source: RFC 6455, section 5.5.3.
    private func pong(_ payload: ByteBuffer) {
      guard let context, !isClosing else { return }
      guard !isPongUnderway, unflushedPongs < Self.pongsPerRead else {
        unansweredPing = payload
        return
      }
      unflushedPongs += 1
      if unflushedPongs > 1 { return send(.pong, payload, context, promise: nil) }
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let sent = context.eventLoop.makePromise(of: Void.self)
      sent.futureResult.whenSuccess { handler.value.pongDidLeave() }
      send(.pong, payload, context, promise: sent)
    }

    /// Flushes the pongs of one read together.
    private func flushPongs() {
      guard unflushedPongs > 0, let context, !isClosing else { return }
      unflushedPongs = 0
      isPongUnderway = true
      context.flush()
    }

    /// Answers the newest ping that came while pongs were under way, if there is one.
    private func pongDidLeave() {
      isPongUnderway = false
      guard let payload = unansweredPing else { return }
      unansweredPing = nil
      pong(payload)
      flushPongs()
    }

    /// Ends the connection because of what the other end sent.
    private func fail(
      _ code: WebSocketErrorCode, _ reason: String, _ context: ChannelHandlerContext
    ) {
      isClosing = true
      sendClose(code, context)
      context.flush()
      context.fireErrorCaught(WebSocketFailure(description: reason))
    }

    private func sendClose(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
      if hasSentClose { return }
      hasSentClose = true
      var payload = ByteBuffer()
      payload.write(webSocketErrorCode: code)
      send(.connectionClose, payload, context, promise: nil)
    }

    /// Writes one whole frame: its head and, masked on the client's side, its payload.
    ///
    /// - Parameter promise: Kept when the payload is written.
    private func send(
      _ opcode: WebSocketOpcode, _ payload: ByteBuffer, _ context: ChannelHandlerContext,
      promise: EventLoopPromise<Void>?
    ) {
      var payload = payload
      // A fresh key for each frame: a proxy must not be able to guess the bytes on the wire.
      // Source: RFC 6455, section 10.3.
      let key = maskingKey()
      let head = WebSocketFrames.head(opcode, count: payload.readableBytes, key: key)
      if let key { WebSocketFrames.mask(&payload, with: key) }
      context.write(wrapOutboundOut(head), promise: nil)
      context.write(wrapOutboundOut(payload), promise: promise)
    }

    /// A new key for a frame of a client; `nil` for a server's, which is not masked.
    private func maskingKey() -> WebSocketMaskingKey? {
      guard case .client(let randomBits) = side else { return nil }
      return unsafe withUnsafeBytes(of: randomBits()) { unsafe WebSocketMaskingKey($0.prefix(4)) }
    }

    /// Returns the payload of a frame, unmasked.
    private func payload(of frame: WebSocketFrame) -> ByteBuffer {
      var bytes = frame.data
      if let key = frame.maskKey { WebSocketFrames.mask(&bytes, with: key) }
      return bytes
    }
  }

  /// Bytes of the other end that no WebSocket of this kind has.
  private struct WebSocketFailure: Error, CustomStringConvertible {
    let description: String
  }
#endif
