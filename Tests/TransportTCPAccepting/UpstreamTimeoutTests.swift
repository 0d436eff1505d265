#if TCP && os(Linux)
  import NIOCore
  import NIOPosix
  import Testing

  @testable import TernTransportTCP

  @Suite("connections to nodes that are cut without a word", .timeLimit(.minutes(2)))
  struct UpstreamTimeoutTests {
    @Test("bytes that another node does not acknowledge end their connection within seconds")
    func timeout() async throws {
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      let node = try await ServerBootstrap(group: loop).bind(host: "127.0.0.1", port: 0).get()
      let address = try #require(node.localAddress)
      let channel = try await TCPSockets.upstream(on: loop, timeout: .seconds(60))
        .connect(to: address).get()
      let set = try await channel.getOption(TCPSockets.userTimeout).get()
      #expect(Int(set) == TCPSockets.upstreamTimeoutMilliseconds)
      try await channel.close()
      try await node.close()
    }
  }
#endif
