#if TCP
  import NIOCore
  import NIOEmbedded
  import Testing

  @testable import TernTransportTCP

  /// A listener whose loop stands still until its time is advanced.
  private final class Listener {
    /// Counts how often connections were asked for.
    private final class Reads: ChannelOutboundHandler {
      typealias OutboundIn = Never
      var count = 0

      func read(context: ChannelHandlerContext) { count += 1 }
    }

    let loop = EmbeddedEventLoop()
    let channel: EmbeddedChannel
    private let reads = Reads()
    private var accepted: [EmbeddedChannel] = []
    /// The accepted connections that were closed, by their number.
    private(set) var closed: Set<Int> = []

    init(limit: Int = 256, perAddress: Int? = nil) throws {
      channel = EmbeddedChannel(loop: loop)
      try channel.pipeline.syncOperations.addHandlers([
        reads,
        FairAcceptHandler(
          limit: limit, perAddress: perAddress, isExempt: { $0 == "10.0.0.9" }),
      ])
    }

    deinit {
      channel.close(promise: nil)
      for connection in accepted { connection.close(promise: nil) }
      loop.run()
    }

    var readCount: Int { reads.count }

    /// Accepts connections from addresses, all in one turn.
    func accept(_ addresses: [String]) throws {
      for address in addresses {
        let connection = EmbeddedChannel(loop: loop)
        connection.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        let number = accepted.count
        connection.closeFuture.assumeIsolated().whenSuccess { [weak self] in
          self?.closed.insert(number)
        }
        accepted.append(connection)
        channel.pipeline.fireChannelRead(connection as any Channel)
      }
      channel.pipeline.fireChannelReadComplete()
    }

    /// The addresses of the connections that were set up since the last call.
    func setUp() throws -> [String] {
      var addresses: [String] = []
      while let next = try channel.readInbound(as: (any Channel).self) {
        addresses.append(next.remoteAddress?.ipAddress ?? "none")
      }
      return addresses
    }
  }

  @Suite("connections of a listener") struct FairAcceptHandlerTests {
    private let many = [String](repeating: "10.0.0.1", count: 10)

    @Test("one is set up in each interval, however often others arrive")
    func intervals() throws {
      let listener = try Listener()
      try listener.accept(many)
      #expect(try listener.setUp().isEmpty)
      listener.loop.advanceTime(by: .microseconds(500))
      #expect(try listener.setUp().count == 1)
      try listener.accept(["10.0.0.1"])
      #expect(try listener.setUp().isEmpty)
      listener.loop.advanceTime(by: .microseconds(499))
      #expect(try listener.setUp().isEmpty)
      listener.loop.advanceTime(by: .microseconds(1))
      #expect(try listener.setUp().count == 1)
      listener.loop.advanceTime(by: .milliseconds(10))
      #expect(try listener.setUp().count == 9)
    }

    @Test("an address that comes late is next")
    func late() throws {
      let listener = try Listener()
      try listener.accept(many + ["10.0.0.2"])
      listener.loop.advanceTime(by: .microseconds(500))
      #expect(try listener.setUp() == ["10.0.0.1"])
      listener.loop.advanceTime(by: .milliseconds(1))
      #expect(try listener.setUp() == ["10.0.0.2", "10.0.0.1"])
    }

    @Test("behind a long time without connections a burst is set up at once, up to the share")
    func burst() throws {
      let listener = try Listener()
      listener.loop.advanceTime(by: .seconds(1))
      try listener.accept(many + many)
      #expect(try listener.setUp().count == SetupPace.share)
      try listener.accept([])
      #expect(try listener.setUp().isEmpty)
    }

    @Test("no more are accepted than may wait, until some are set up")
    func limit() throws {
      let listener = try Listener(limit: 20)
      listener.channel.read()
      #expect(listener.readCount == 1)
      try listener.accept(many)
      listener.channel.read()
      #expect(listener.readCount == 1)
      // Ten wait, and sixteen more have room once there are four.
      listener.loop.advanceTime(by: .microseconds(2_500))
      #expect(listener.readCount == 1)
      listener.loop.advanceTime(by: .microseconds(500))
      #expect(listener.readCount == 2)
    }

    @Test("connections of an address beyond its rate are closed, those of proxies are not")
    func rate() throws {
      let listener = try Listener(perAddress: 1)
      listener.loop.advanceTime(by: .seconds(1))
      try listener.accept(
        [String](repeating: "10.0.0.1", count: 51) + ["10.0.0.2"]
          + [String](repeating: "10.0.0.9", count: 11))
      listener.loop.advanceTime(by: .milliseconds(990))
      #expect(listener.closed == [50])
      #expect(try listener.setUp().count == 62)
      try listener.accept(["10.0.0.1"])
      listener.loop.advanceTime(by: .milliseconds(10))
      #expect(listener.closed == [50, 63])
      try listener.accept(["10.0.0.1"])
      listener.loop.advanceTime(by: .milliseconds(1))
      #expect(listener.closed == [50, 63])
      #expect(try listener.setUp().count == 1)
    }

    @Test("connections that wait are closed with their listener")
    func end() throws {
      let listener = try Listener()
      try listener.accept(["10.0.0.1", "10.0.0.2", "10.0.0.3"])
      listener.loop.advanceTime(by: .microseconds(500))
      #expect(try listener.setUp() == ["10.0.0.1"])
      #expect(listener.closed.isEmpty)
      listener.channel.pipeline.fireChannelInactive()
      listener.loop.advanceTime(by: .milliseconds(10))
      #expect(listener.closed == [1, 2])
      #expect(try listener.setUp().isEmpty)
    }
  }
#endif
