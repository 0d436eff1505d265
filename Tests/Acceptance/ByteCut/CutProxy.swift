#if TCP
  import NIOCore
  import NIOPosix
  import Synchronization

  /// Carries the bytes of connections to a server and back, and breaks one of them after exactly as
  /// many bytes as asked.
  final class CutProxy: Sendable {
    enum Way: String, Sendable, CaseIterable {
      case toServer, toClient
    }

    private struct State {
      var carried: [Way: Int] = [:]
      var cut: (way: Way, bytesLeft: Int)?
    }

    private let state = Mutex(State())
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let listening = Mutex<(any Channel)?>(nil)

    /// Begins to take connections on a free port of this machine; they go on to `target`.
    func open(to target: Int) async throws -> Int {
      let channel = try await ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 64)
        .childChannelInitializer { [self] client in connect(client, to: target) }
        .bind(host: "127.0.0.1", port: 0).get()
      listening.withLock { $0 = channel }
      return channel.localAddress?.port ?? 0
    }

    func close() async throws {
      try await listening.withLock { $0 }?.close()
      try await group.shutdownGracefully()
    }

    /// Returns the number of bytes that have passed since the last cut was set.
    func carried(_ way: Way) -> Int { state.withLock { $0.carried[way] ?? 0 } }

    /// True when the cut that was set has happened.
    var hasCut: Bool { state.withLock { $0.cut == nil } }

    /// Breaks the connection that carries the byte after so many in one direction, in front of it.
    func cut(_ way: Way, after bytes: Int) {
      state.withLock { $0 = State(cut: (way, bytes)) }
    }

    /// Returns the number of `count` bytes that still pass.
    fileprivate func carry(_ count: Int, _ way: Way) -> Int {
      state.withLock { state in
        state.carried[way, default: 0] += count
        guard let cut = state.cut, cut.way == way else { return count }
        state.cut = cut.bytesLeft < count ? nil : (way, cut.bytesLeft - count)
        return min(cut.bytesLeft, count)
      }
    }

    private func connect(_ client: any Channel, to port: Int) -> EventLoopFuture<Void> {
      ClientBootstrap(group: client.eventLoop)
        .channelInitializer { [self] server in
          server.eventLoop.makeCompletedFuture {
            try server.pipeline.syncOperations.addHandler(CutHandler(self, .toClient, to: client))
          }
        }
        .connect(host: "127.0.0.1", port: port)
        .flatMapThrowing { [self] server in
          try client.pipeline.syncOperations.addHandler(CutHandler(self, .toServer, to: server))
        }
    }
  }

  /// Passes on what comes in at one end of a carried connection.
  private final class CutHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let proxy: CutProxy
    private let way: CutProxy.Way
    private let other: any Channel

    init(_ proxy: CutProxy, _ way: CutProxy.Way, to other: any Channel) {
      self.proxy = proxy
      self.way = way
      self.other = other
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var bytes = unwrapInboundIn(data)
      let whole = bytes.readableBytes
      let passing = proxy.carry(whole, way)
      let part = bytes.readSlice(length: passing) ?? ByteBuffer()
      let (near, far) = (context.channel, other)
      let written = far.writeAndFlush(part)
      guard passing < whole else { return }
      // What fits still arrives; then both ends find the connection gone.
      written.whenComplete { _ in
        far.close(promise: nil)
        near.close(promise: nil)
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      other.close(promise: nil)
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }
  }
#endif
