#if TLS
  import NIOCore
  import NIOSSL
  import NIOTLS

  /// Holds a connection back from those above until both ends have agreed on how to secure it.
  ///
  /// Without it, a link would be open before it is known whose it is. It swallows
  /// `channelActive` and fires it once the handshake is over, then removes itself. Clients use
  /// it, and upstream links between nodes. Accepted connections have none: a server asks for no
  /// certificate of its client, so there is no identity to wait for.
  final class TLSGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let wanted: TLSIdentity?
    private let timeout: TimeAmount
    private let deadline: NIODeadline?
    private let didFail: @Sendable (any Error) -> Void
    /// True once the certificate was accepted: from then on events pass.
    private var isOpen = false
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - wanted: What the other end's certificate has to be for; `nil` for any name.
    ///   - timeout: How long the other end may take to agree.
    ///   - deadline: The latest end of that time; `nil` when it begins with the connection.
    ///   - didFail: Hears why there will be no secure connection, perhaps more than once.
    init(
      wanted: TLSIdentity?, timeout: TimeAmount, until deadline: NIODeadline? = nil,
      didFail: @escaping @Sendable (any Error) -> Void
    ) {
      self.wanted = wanted
      self.timeout = timeout
      self.deadline = deadline
      self.didFail = didFail
    }

    func channelActive(context: ChannelHandlerContext) {
      let end = deadline ?? .now() + timeout
      timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: end) { [self] in
        didFail(ChannelError.connectTimeout(timeout))
        context.close(promise: nil)
      }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard !isOpen, case .handshakeCompleted? = event as? TLSUserEvent else {
        return context.fireUserInboundEventTriggered(event)
      }
      timer?.cancel()
      if let wanted {
        // Without a certificate there is no identity to compare, and the connection ends.
        let shown = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
        guard let shown, wanted.isNamed(by: shown) else {
          didFail(TLSFailure(description: "the certificate is for another host"))
          return context.close(promise: nil)
        }
      }
      isOpen = true
      context.fireChannelActive()
      context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if isOpen { return context.fireErrorCaught(error) }
      timer?.cancel()
      didFail(TLSFailure(error))
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      if isOpen { return context.fireChannelInactive() }
      timer?.cancel()
      // A peer that closes during the handshake often sends no alert.
      didFail(TLSFailure(description: "it ended before it was secure"))
    }
  }
#endif
