#if TCP
  package import NIOCore

  /// Takes the PROXY header off the bytes of a connection, and keeps the client that it names.
  ///
  /// The headers of trusted proxies are believed, and those of nodes that prove to know the secret
  /// of the cluster. A connection of a trusted proxy without a good header is closed, and one with
  /// a header of a node that is not believed. Others pass.
  ///
  /// It stays in the pipeline after the header: ``ProxiedPeer`` finds it there by its type,
  /// also from the streams of HTTP/2 that the connection carries.
  final class ProxyHeaderHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The time limit for the header, from the moment the connection is active.
    private let timeout: TimeAmount
    /// True when the socket's peer is a trusted proxy: then a header is mandatory.
    private let isProxy: Bool
    private let relay: NodeRelay?
    /// Counts the connection among those of the client's address; `false` when it has too many.
    private let readmit: (String) -> Bool
    /// The bytes so far; `nil` once the header has been taken off, and bytes pass untouched.
    private var waiting: ByteBuffer? = ByteBuffer()
    private var timer: Scheduled<Void>?
    /// True once the handlers behind know that the connection is active.
    private var isAnnounced = false
    /// The client that the proxy names; `nil` before the header, and when it speaks for itself.
    fileprivate private(set) var client: ProxyHeader.Client?
    /// True when another node has relayed the connection.
    fileprivate private(set) var isRelayed = false
    /// True when that node says so of its client; see ``RelayedClient/isRemote``.
    fileprivate private(set) var isRemote = false
    /// True when that node belongs to another shard.
    fileprivate private(set) var isOfOtherShard = false

    /// - Parameters:
    ///   - isProxy: True when the other end is a proxy that sends a header.
    ///   - relay: Believes the headers of nodes; `nil` without a cluster.
    init(
      timeout: TimeAmount, isProxy: Bool = true, relay: NodeRelay? = nil,
      readmit: @escaping (String) -> Bool = { _ in true }
    ) {
      self.timeout = timeout
      self.isProxy = isProxy
      self.relay = relay
      self.readmit = readmit
    }

    /// Starts the time limit. The event is passed on behind the header: a link that opened before
    /// it would have the name and the rights of the proxy.
    func channelActive(context: ChannelHandlerContext) {
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
        context.close(promise: nil)
      }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard var waiting else { return context.fireChannelRead(data) }
      var bytes = unwrapInboundIn(data)
      waiting.writeBuffer(&bytes)
      self.waiting = waiting
      let first = Array(waiting.readableBytesView.prefix(Self.mostBytes))
      // The header of a node is tried first: it is a header of version 2 as well, and only the
      // code in its last field tells it from that of a proxy.
      switch relay.map({ RelayHeader.read(first, at: $0.setting.address, $0.setting.code) }) {
      case .undecided?: return
      // A wrong code is never read as a proxy's header, or a client could name any address.
      case .forged?:
        relay?.count(\.disbelieved)
        return context.close(promise: nil)
      case .whole(let header, let byteCount)?:
        let client = believable(header.client, context)
        let node = context.remoteAddress?.ipAddress
        // Readmission comes last: a header that is not believed must not move the count to the
        // address it names.
        guard relay?.admits(header, from: node) ?? false, readmit(client.address) else {
          return context.close(promise: nil)
        }
        isRelayed = true
        isRemote = header.isRemote
        isOfOtherShard = header.isOfOtherShard
        return pass(client, behind: byteCount, context)
      case .other?, nil: break
      }
      // A direct client: its bytes stay as they are, a header of version 1 or 2 among them,
      // which no protocol behind accepts.
      guard isProxy else { return pass(nil, behind: 0, context) }
      switch ProxyHeader(first) {
      case .undecided: return
      case .invalid: context.close(promise: nil)
      case .whole(let client, let byteCount):
        pass(client.map { believable($0, context) }, behind: byteCount, context)
      }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      if isAnnounced { context.fireChannelReadComplete() }
    }

    /// Ends the reading of the header: remembers the client, announces the connection, and hands on
    /// the bytes behind the header.
    ///
    /// - Parameter byteCount: The bytes of the header, which are dropped; 0 for a direct client.
    private func pass(
      _ client: ProxyHeader.Client?, behind byteCount: Int, _ context: ChannelHandlerContext
    ) {
      guard var bytes = waiting else { return }
      waiting = nil
      self.client = client
      timer?.cancel()
      isAnnounced = true
      context.fireChannelActive()
      bytes.moveReaderIndex(forwardBy: byteCount)
      if bytes.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(bytes)) }
    }

    /// Returns the client that a header names, with an address that is true on this machine.
    ///
    /// A client on the machine of another node, or of a proxy, is none of this machine. A loopback
    /// address grants local rights here only if the sender of the header itself is on this machine.
    /// Otherwise the address of the sender takes its place; the port is kept.
    private func believable(
      _ client: ProxyHeader.Client, _ context: ChannelHandlerContext
    ) -> ProxyHeader.Client {
      guard let sender = context.remoteAddress?.ipAddress,
        TrustedProxies.isLoopback(client.address), !TrustedProxies.isLoopback(sender)
      else { return client }
      return ProxyHeader.Client(address: sender, port: client.port)
    }

    /// Handles the end of the connection, which is told to the handlers that know of its beginning.
    func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      if isAnnounced { context.fireChannelInactive() }
    }

    /// More than the longest header.
    private static let mostBytes = 8_192
  }

  /// The client behind the other end of a channel.
  ///
  /// All functions run on the event loop of the channel. They look for a
  /// ``ProxyHeaderHandler``, which is missing where neither proxies are trusted nor a cluster
  /// is configured.
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

    /// Returns the other end of a link, when a trusted proxy or another node has named it.
    static func link(_ channel: any Channel) -> LinkPeer? {
      guard let handler = handler(channel), let client = handler.client else { return nil }
      let named = RelayedClient(client: client, isRemote: handler.isRemote)
      return LinkPeer(
        name: named.peer, address: client.address, isOfOtherShard: handler.isOfOtherShard)
    }

    /// Returns true when another node of the cluster has relayed a connection here.
    static func isRelayed(_ channel: any Channel) -> Bool { handler(channel)?.isRelayed ?? false }

    /// Returns true when another node has opened a link here that carries our framing alone.
    static func isLink(_ channel: any Channel) -> Bool {
      guard let handler = handler(channel) else { return false }
      return handler.isRemote || handler.isOfOtherShard
    }

    private static func handler(_ channel: any Channel) -> ProxyHeaderHandler? {
      try? channel.pipeline.syncOperations.handler(type: ProxyHeaderHandler.self)
    }
  }
#endif
