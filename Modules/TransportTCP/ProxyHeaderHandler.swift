#if TCP
  package import NIOCore

  /// Takes the PROXY header off the bytes of a connection that a trusted proxy has made, and keeps
  /// the client that it names. A connection without a good header is closed.
  final class ProxyHeaderHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let timeout: TimeAmount
    private var waiting: ByteBuffer? = ByteBuffer()
    private var timer: Scheduled<Void>?
    /// The client that the proxy names; `nil` before the header, and when it speaks for itself.
    fileprivate private(set) var client: ProxyHeader.Client?

    init(timeout: TimeAmount) { self.timeout = timeout }

    func channelActive(context: ChannelHandlerContext) {
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
        context.close(promise: nil)
      }
      context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard var waiting else { return context.fireChannelRead(data) }
      var bytes = unwrapInboundIn(data)
      waiting.writeBuffer(&bytes)
      switch ProxyHeader(Array(waiting.readableBytesView.prefix(Self.mostBytes))) {
      case .undecided: self.waiting = waiting
      case .invalid: context.close(promise: nil)
      case .whole(let client, let byteCount):
        self.waiting = nil
        self.client = client
        timer?.cancel()
        waiting.moveReaderIndex(forwardBy: byteCount)
        if waiting.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(waiting)) }
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      context.fireChannelInactive()
    }

    /// More than the longest header.
    private static let mostBytes = 8_192
  }

  /// The client behind the other end of a channel.
  package enum ProxiedPeer {
    /// Returns the client that a trusted proxy has named for a connection, or for the connection
    /// that a stream of HTTP/2 belongs to; `nil` for none. On the channel's event loop.
    package static func of(_ channel: any Channel) -> (address: String, port: Int)? {
      for channel in [channel, channel.parent].compactMap({ $0 }) {
        let handler = try? channel.pipeline.syncOperations.handler(type: ProxyHeaderHandler.self)
        if let client = handler?.client { return (client.address, client.port) }
      }
      return nil
    }
  }
#endif
