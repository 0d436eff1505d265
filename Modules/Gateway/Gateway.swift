public import TernServer
public import TernSync
public import TernTransport

#if TCP
  import NIOCore
  import NIOHTTP1
  import TernTransportTCP
#endif

/// The endpoints for clients of the Firebase Realtime Database: WebSocket, REST, streaming
/// REST and long polling, on the port of our own clients.
///
/// They are told apart by their first bytes. All of them enter through the same server: a
/// WebSocket is a link like any other, a REST request is decided in the same batches.
public enum Gateway {
  /// Opens the endpoints, at whatever address `transport` listens at from now on.
  ///
  /// - Parameters:
  ///   - transport: The server's own, over TCP. Others have no such endpoints, and nothing is done.
  ///   - ambient: Where names of sessions come from.
  public static func open(
    to server: TernServer, on transport: any Transport, options: GatewayOptions = GatewayOptions(),
    ambient: RuntimeEnvironment = .system
  ) {
    #if TCP
      // Loopback and others carry no foreign protocol; embedders may open the gateway without
      // asking.
      guard let transport = transport as? TCPTransport else { return }
      precondition(
        server.lives(on: transport),
        "the endpoints open on the transport that the server was made for")
      transport.charge(server.budget)
      // One of each for the whole gateway: limits count all its connections, and a session may
      // be asked for over any of them.
      let channels = WebChannelTables()
      let load = GatewayLoad(server.budget)
      let polls = PollTables()
      // Runs for each connection, on its event loop, which is the server's executor: so the
      // server's isolation may be assumed in what follows.
      transport.serveForeignProtocols(negotiating: ["h2", "http/1.1"]) {
        channel, open, installLink in
        let setting = GatewayContext(
          options: options,
          ask: { request, answer in
            server.assumeIsolated { $0.ask(request, answer) }
          },
          export: { path, form, namespace, request, address, tell in
            server.assumeIsolated {
              $0.export(path, form, of: namespace, for: request, at: address, tell: tell)
            }
          },
          open: open, installLink: installLink, load: load,
          polls: polls.table(on: channel.eventLoop),
          randomBits: ambient.randomBits, channels: channels,
          backUp: { base, request, address, tell in
            server.assumeIsolated { $0.backUp(on: base, for: request, at: address, tell: tell) }
          },
          proxies: transport.trustedProxies, admin: AdminServices(of: server, load),
          holds: { server.places.holds($0) })
        try install(setting, in: channel)
      }
    #endif
  }

  #if TCP
    /// Sets up a channel for HTTP of any version, told by its first bytes.
    static func install(_ setting: GatewayContext, in channel: any Channel) throws {
      try channel.pipeline.syncOperations.addHandler(HTTPVersionDetector(setting))
    }

    /// Sets up a channel for HTTP/1.1, which may become a WebSocket.
    ///
    /// The decoder bounds the head. Bytes behind a request that becomes a WebSocket are
    /// forwarded to the handlers that take its place.
    static func installHTTP1(_ setting: GatewayContext, in channel: any Channel) throws {
      var limits = NIOHTTPDecoderLimitConfiguration()
      limits.maxHeaderFieldSize = setting.options.limits.headBytes
      limits.maxHeaderListSize = setting.options.limits.headBytes
      limits.maxHeaderFieldCount = setting.options.limits.headFields
      let decoder = HTTPRequestDecoder(
        leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(RequestLineProbe())
      try pipeline.addHandler(ByteToMessageHandler(decoder))
      try pipeline.addHandler(HTTPResponseEncoder())
      try pipeline.addHandler(HTTPHandler(setting))
    }
  #endif
}
