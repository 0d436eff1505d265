#if TCP
  import NIOCore
  public import TernSync
  public import TernTransport
  import TernTransportTCP

  /// Links over WebSockets, which pass proxies and load balancers that take HTTP only.
  ///
  /// A link's bytes are those of a TCP transport, cut into binary messages; see
  /// Docs/Formats/websocket.md.
  public final class WebSocketTransport: Transport {
    /// The sockets, TLS and framing; this type adds the tunnel alone.
    private let connections: TCPTransport

    /// A transport that has its thread and no socket yet.
    ///
    /// - Parameters:
    ///   - options: The address and the limits.
    ///   - environment: The source of randomness for the masks of what a client sends, which no
    ///     other program on the way may guess. Source: RFC 6455, section 5.3.
    /// - Throws: `TransportError.invalidOption(name:reason:)`.
    public init(
      _ options: WebSocketOptions, environment: RuntimeEnvironment = .system
    ) throws(TransportError) {
      try options.validate()
      let upgrade = WebSocketUpgrade(options, randomBits: environment.randomBits)
      connections = try TCPTransport(
        options.connection,
        tunnel: LinkTunnel(
          connect: { try upgrade.request(on: $0, to: $1, failed: $2, ready: $3) },
          accept: { try upgrade.answer(on: $0, ready: $1) }))
    }

    public var executor: any SerialExecutor { connections.executor }

    public func enqueue(_ work: @escaping @Sendable () -> Void) { connections.enqueue(work) }

    @discardableResult
    public func connect(
      _ open: @escaping LinkOpening
    ) async throws(TransportError) -> any Link {
      try await connections.connect(open)
    }

    public var addressCount: Int { connections.addressCount }

    @discardableResult
    public func connect(
      to address: Int, _ open: @escaping LinkOpening
    ) async throws(TransportError) -> any Link {
      try await connections.connect(to: address, open)
    }

    public func listen(
      _ accept: @escaping LinkOpening
    ) async throws(TransportError) -> any TransportListener {
      try await connections.listen(accept)
    }

    public func shutdown() async { await connections.shutdown() }
  }
#endif
