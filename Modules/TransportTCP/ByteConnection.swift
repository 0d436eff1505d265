#if TCP
  package import NIOCore
  import NIOPosix
  package import TernTransport

  /// A connection that is secured as links are and carries another protocol: for programs that
  /// speak HTTP to a server.
  package enum ByteConnection {
    /// Connects.
    ///
    /// - Parameters:
    ///   - options: The address, the options of TLS and the time limit.
    ///   - loop: The event loop of the channel.
    ///   - install: Adds the handlers of the protocol, on the event loop.
    /// - Returns: The result of `install`, once the connection is open and, with TLS, the
    ///   certificate has been checked.
    /// - Throws: `TransportError`: `invalidOption` for a mistake in the options, before any packet
    ///   is sent; `timedOut`, `refused`, `notSecure` or `unreachable` otherwise.
    package static func open<R: Sendable>(
      _ options: TCPOptions, on loop: any EventLoop,
      install: @escaping @Sendable (any Channel) throws -> R
    ) async throws(TransportError) -> R {
      try options.validate()
      let contexts = try options.tls.map(TLSContexts.init)
      try contexts?.validate(host: options.host)
      let opened = loop.makePromise(of: R.self)
      let timeout = TimeAmount.seconds(Int64(options.connectTimeoutSeconds))
      TCPSockets.client(on: loop, timeout: timeout)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            // TLS comes first in the pipeline: its gate holds back `channelActive` until the
            // handshake is over, so that `didOpen` also means secured.
            try contexts?.secure(channel, to: options.host, within: timeout) { opened.fail($0) }
            try TCPSockets.keepFromChildren(channel)
            let opening = OpeningHandler()
            try channel.pipeline.syncOperations.addHandler(opening)
            let made = try install(channel)
            opening.didOpen = { opened.succeed(made) }
          }
        }
        .connect(host: options.host, port: options.port)
        .whenFailure { opened.fail($0) }
      do { return try await opened.futureResult.get() } catch {
        throw .connecting(to: options, failedWith: error)
      }
    }
  }

  /// Tells that a connection is open, and secured if it is to be.
  private final class OpeningHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    var didOpen: () -> Void = {}

    func channelActive(context: ChannelHandlerContext) {
      didOpen()
      context.fireChannelActive()
    }
  }
#endif
