public import TernServer
public import TernSync
public import TernTransport

#if TCP
  import NIOCore
  import NIOHTTP1
  import TernTransportTCP
#endif

/// The doors that clients of the Firebase Realtime Database knock on: WebSocket, REST, streaming
/// REST and long polling, on the port of our own clients.
///
/// They are told apart by their first bytes. All of them enter through the same server: a
/// WebSocket is a link like any other, a REST request is decided in the same batches.
public enum Gateway {
  /// Opens the doors, at whatever address `transport` listens at from now on.
  ///
  /// - Parameters:
  ///   - transport: The server's own, over TCP. Others have no such doors, and nothing is done.
  ///   - ambient: Where names of sessions come from.
  public static func open(
    to server: TernServer, on transport: any Transport, options: GatewayOptions = GatewayOptions(),
    ambient: Ambient = .system
  ) {
    #if TCP
      guard let transport = transport as? TCPTransport else { return }
      precondition(
        server.lives(on: transport), "the doors open on the transport that the server was made for")
      transport.charge(server.budget)
      let load = GatewayLoad(server.budget)
      let polls = PollTables()
      transport.welcomeStrangers { channel, open in
        let setting = DoorSetting(
          options: options,
          ask: { request, answer in
            server.assumeIsolated { $0.ask(request, answer) }
          },
          export: { path, form, namespace, request, address, tell in
            server.assumeIsolated {
              $0.export(path, form, of: namespace, for: request, at: address, tell: tell)
            }
          },
          open: open, load: load, polls: polls.table(on: channel.eventLoop),
          randomBits: ambient.randomBits)
        try install(setting, in: channel)
      }
    #endif
  }

  #if TCP
    /// Sets up a channel for HTTP, which may become a WebSocket.
    static func install(_ setting: DoorSetting, in channel: any Channel) throws {
      var limits = NIOHTTPDecoderLimitConfiguration()
      limits.maxHeaderFieldSize = setting.options.limits.headBytes
      limits.maxHeaderListSize = setting.options.limits.headBytes
      limits.maxHeaderFieldCount = setting.options.limits.headFields
      let decoder = HTTPRequestDecoder(
        leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(ByteToMessageHandler(decoder))
      try pipeline.addHandler(HTTPResponseEncoder())
      try pipeline.addHandler(HTTPDoorHandler(setting))
    }
  #endif
}
