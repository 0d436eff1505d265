#if TCP
  import NIOCore
  import NIOPosix

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #endif

  /// The setup of this module's sockets.
  ///
  /// Small frames leave at once (`TCP_NODELAY`): the code above batches its own writes.
  /// Keep-alive is on for both ends, so a dead peer is found after two minutes even where a
  /// protocol has no heartbeat of its own.
  enum TCPSockets {
    /// Connections the system may hold before we accept them: a restart brings all clients back.
    /// The system may cut it to its own limit (`net.core.somaxconn`).
    private static let backlog: Int32 = 4096
    /// Seconds of silence before the system asks whether the peer is alive, and between asks.
    private static let keepAliveIdleSeconds: Int = 60
    private static let keepAliveIntervalSeconds: Int = 10
    /// The unanswered probes after which the system ends the connection.
    private static let keepAliveProbes: Int = 6

    /// Reads begin small, so that an idle connection holds little, and grow under load.
    private static let reads = AdaptiveRecvByteBufferAllocator(
      minimum: 512, initial: 1024, maximum: 64 << 10)
    /// The share of a connection in one turn: all of them share a thread, and none waits longer for
    /// its turn than the others together take for so much.
    private static let shares = AdaptiveRecvByteBufferAllocator(
      minimum: 512, initial: 1024, maximum: 16 << 10)

    /// Returns a bootstrap for outgoing connections.
    ///
    /// - Parameters:
    ///   - loop: The loop that the channel lives on.
    ///   - timeout: The limit of TCP's own handshake; TLS and tunnels have limits of their own.
    static func client(on loop: any EventLoop, timeout: TimeAmount) -> ClientBootstrap {
      var bootstrap = ClientBootstrap(group: loop)
        .connectTimeout(timeout)
        .channelOption(.socketOption(.so_keepalive), value: 1)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelOption(.recvAllocator, value: reads)
      for (option, value) in keepAlive {
        bootstrap = bootstrap.channelOption(option, value: value)
      }
      return bootstrap
    }

    /// The longest time, in milliseconds, that bytes to another node may stay unacknowledged:
    /// clients wait for them, and the system itself would try for a quarter of an hour.
    static let upstreamTimeoutMilliseconds = 10_000

    /// Returns a bootstrap for connections to other nodes, which end when their bytes do not
    /// arrive.
    ///
    /// Only Linux has that limit; on other systems, the server's own pings find a dead node.
    static func upstream(on loop: any EventLoop, timeout: TimeAmount) -> ClientBootstrap {
      #if os(Linux) || os(Android)
        return client(on: loop, timeout: timeout)
          .channelOption(userTimeout, value: upstreamTimeoutMilliseconds)
      #else
        return client(on: loop, timeout: timeout)
      #endif
    }

    #if os(Linux) || os(Android)
      static let userTimeout = ChannelOptions.Types.SocketOption(
        level: .tcp, name: .init(rawValue: TCP_USER_TIMEOUT))
    #endif

    /// Returns a bootstrap for a listener whose connections are set up in fair order.
    ///
    /// - Parameters:
    ///   - waiting: The most accepted connections that wait to be set up.
    ///   - perAddress: The connections per second of one address.
    ///   - isExempt: Tells the addresses without such a rate, which stand for many clients.
    static func server(
      on loop: any EventLoop, waiting: Int, perAddress: Int,
      isExempt: @escaping @Sendable (String) -> Bool
    ) -> ServerBootstrap {
      var bootstrap = ServerBootstrap(group: loop)
        .serverChannelOption(.backlog, value: backlog)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        // One read of the listener accepts as many as one burst of setups: more would wait in a
        // queue.
        .serverChannelOption(.maxMessagesPerRead, value: UInt(SetupPace.share))
        .serverChannelInitializer { listener in
          listener.eventLoop.makeCompletedFuture {
            try keepFromChildren(listener)
            try listener.pipeline.syncOperations.addHandlers([
              AcceptBackoffHandler(),
              FairAcceptHandler(
                limit: waiting, perAddress: perAddress, isExempt: isExempt),
            ])
          }
        }
        .childChannelOption(.socketOption(.so_keepalive), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelOption(.recvAllocator, value: shares)
        // One read for each connection and turn, so that a fast sender does not keep the loop.
        .childChannelOption(.maxMessagesPerRead, value: 1)
      for (option, value) in keepAlive {
        bootstrap = bootstrap.childChannelOption(option, value: value)
      }
      return bootstrap
    }

    /// Keeps a socket out of the processes that this one starts.
    ///
    /// A listening socket that lives on in a child process keeps its port from all processes, its
    /// owner included.
    ///
    /// The flag is set on accepted and connecting sockets as well: a child that keeps one open
    /// would keep its peer from seeing the close. A channel without a socket, such as one in tests,
    /// is left alone.
    static func keepFromChildren(_ channel: any Channel) throws {
      try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
        of: NIOBSDSocket.Handle.self
      ) { socket in
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
      }
    }

    private static var keepAlive: [(ChannelOptions.Types.SocketOption, Int)] {
      #if os(Linux) || os(Android)
        let idle = TCP_KEEPIDLE
      #else
        let idle = TCP_KEEPALIVE
      #endif
      return [
        (idle, keepAliveIdleSeconds), (TCP_KEEPINTVL, keepAliveIntervalSeconds),
        (TCP_KEEPCNT, keepAliveProbes),
      ].map { name, value in
        (.init(level: .tcp, name: .init(rawValue: name)), value)
      }
    }
  }
#endif
