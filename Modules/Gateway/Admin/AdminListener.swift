public import TernServer
public import TernTransport

#if TCP
  import NIOCore
  import NIOHTTP1
  import TernTransportTCP
#endif

/// A listener for operators alone: the paths below `/-/`, over HTTP/1.1.
///
/// Every client that reaches it may read figures without a token, so it belongs on an address of
/// the operator's. Requests that name another host than an address, this machine or one of the
/// names given need a token all the same: a page in a browser may send them (DNS rebinding).
/// It has a thread of its own.
public struct AdminListener: Sendable {
  /// The address that it listens at, with the real port.
  public let address: String
  private let whenClosed: @Sendable () async -> Void

  /// Stops listening and closes its connections.
  public func close() async { await whenClosed() }

  #if TCP
    /// Opens the listener for a server.
    ///
    /// - Parameter names: The names, besides `host` and `localhost`, under which clients reach it.
    /// - Throws: `TransportError` when the address cannot be listened at.
    public static func open(
      for server: TernServer, host: String, port: Int, names: [String] = []
    ) async throws(TransportError) -> AdminListener {
      let transport = try TCPTransport(TCPOptions(host: host, port: port))
      var options = GatewayOptions()
      // Few clients belong here, and a flood must not take the descriptors of the server's port.
      options.limits.connections = 100
      let load = GatewayLoad(server.budget)
      let tables = PollTables()
      let limits = options
      transport.serveForeignProtocols { channel, _, _ in
        let loop = channel.eventLoop
        var setting = GatewayContext(
          options: limits,
          // Another thread than the server's: the question is put to its executor, the answer
          // comes back.
          ask: { request, answer in
            Task { await server.ask(request) { reply in loop.execute { answer(reply) } } }
          },
          export: { _, _, _, _, _, _ in nil }, open: { ClosedLink($0) }, installLink: { _, _ in },
          load: load, polls: tables.table(on: loop), randomBits: { 0 })
        setting.admin = AdminServices(of: server, load, listeningAs: [host] + names)
        try Gateway.installHTTP1(setting, in: channel)
      }
      // Links of our own framing are closed as soon as they open: only HTTP is served here.
      let listener: any TransportListener
      do throws(TransportError) { listener = try await transport.listen { ClosedLink($0) } } catch {
        await transport.shutdown()
        throw error
      }
      return AdminListener(address: listener.address) {
        await listener.close()
        await transport.shutdown()
      }
    }

    /// The end of a link that nothing is served over.
    private final class ClosedLink: LinkHandler {
      init(_ link: any Link) { link.close() }

      func linkDidReceive(_ frames: [[UInt8]]) {}
      func linkDidClose(_ reason: LinkClosure) {}
    }
  #endif
}
