#if TCP
  import Foundation
  import NIOCore
  import NIOPosix

  /// Browsers' listeners over WebChannel: the memory of an idle session, and the time from a commit
  /// to the last of 1,000 listeners.
  enum WebChannelSection {
    static func run() async throws -> [BenchLine] {
      let idle = try await idle(2_000)
      let last = try await fanOut(listeners: 1_000, writes: 100)
      return [
        BenchLine(
          name: "1/KiB of an idle WebChannel session: 40", rate: 1 / idle, baseline: 1 / 40,
          target: 1),
        BenchLine(
          name: "1/p99 of the last WebChannel listener: 1 s", rate: 1_000 / last, baseline: 1,
          target: 1),
      ]
    }

    /// Returns how much the server's memory grows with each of `count` sessions, in KiB.
    private static func idle(_ count: Int) async throws -> Double {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      let pages = ChannelPages(port: server.port)
      // The first ones also pay for code that was never run before.
      try await pages.open(100)
      let before = server.residentBytes
      try await pages.open(count)
      let bytes = (server.residentBytes - before) / count
      print("idle WebChannel sessions: \(count), \(bytes) bytes each at the server, limit 40960")
      try await pages.close()
      return Double(bytes) / 1_024
    }

    /// Returns the 99th percentile of the time from a request to commit to the last listener, in
    /// milliseconds.
    private static func fanOut(listeners: Int, writes: Int) async throws -> Double {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      let pages = ChannelPages(port: server.port)
      try await pages.open(listeners)
      let busy = server.processorSeconds
      var times: [Double] = []
      for number in 0..<writes {
        let start = ContinuousClock.now
        try await pages.commit(number)
        times.append((ContinuousClock.now - start) / .milliseconds(1))
      }
      let deliveries = Double(writes * listeners)
      let cost = (server.processorSeconds - busy) * 1e9 / deliveries
      try await pages.close()
      times.sort()
      print(
        "WebChannel: commit to the last of \(listeners) listeners, ms:",
        "p50 \(BenchLine.tenths(times[writes / 2])), p99 \(BenchLine.tenths(times[writes * 99 / 100]));",
        "\(Int(cost)) ns of the server a delivery")
      return times[writes * 99 / 100]
    }
  }

  /// Pages that listen to one collection over WebChannel, each on a connection of its own.
  private final class ChannelPages {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let loop: any EventLoop
    private let port: Int
    private var count = 0
    private let tally: NIOLoopBound<ChannelTally>

    init(port: Int) {
      self.port = port
      loop = group.next()
      tally = NIOLoopBound(ChannelTally(), eventLoop: loop)
    }

    /// Opens `more`, one after the other, and returns when each has its first snapshot.
    func open(_ more: Int) async throws {
      for _ in 0..<more {
        let ready = loop.makePromise(of: Void.self)
        let tally = tally
        _ = try await ClientBootstrap(group: loop)
          .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.addHandler(
                ChannelPageHandler(ready, tally.value))
            }
          }
          .connect(host: "127.0.0.1", port: port).get()
        try await ready.futureResult.get()
        count += 1
      }
    }

    /// Commits a document over REST, and returns when every page was told.
    func commit(_ number: Int) async throws {
      let all = loop.makePromise(of: Void.self)
      let (tally, wanted) = (tally, count)
      try await loop.submit { tally.value.expect(wanted, all) }.get()
      let text = String(repeating: "x", count: 100)
      let body =
        #"{"writes":[{"update":{"name":"\#(ChannelPageHandler.database)/documents/rooms/r","#
        + #""fields":{"n":{"integerValue":"\#(number)"},"t":{"stringValue":"\#(text)"}}}}]}"#
      let request =
        "POST /v1/\(ChannelPageHandler.database)/documents:commit HTTP/1.1\r\n"
        + "Host: localhost\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
      let channel = try await ClientBootstrap(group: loop)
        .connect(host: "127.0.0.1", port: port).get()
      try await channel.writeAndFlush(ByteBuffer(string: request))
      try await all.futureResult.get()
    }

    func close() async throws { try await group.shutdownGracefully() }
  }

  /// Counts the changes that all pages together were told; on their event loop.
  private final class ChannelTally {
    private var missing = 0
    private var done: EventLoopPromise<Void>?

    func expect(_ count: Int, _ done: EventLoopPromise<Void>) {
      missing = count
      self.done = done
    }

    func count(_ changes: Int) {
      missing -= changes
      if missing <= 0 { exchange(&done, with: nil)?.succeed() }
    }
  }

  private final class ChannelPageHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    static let database = "projects/bench/databases/(default)"
    private static let path = "/google.firestore.v1.Firestore/Listen/channel?VER=8&CVER=22"
    private static let message =
      #"{"database":"\#(database)","addTarget":{"query":{"structuredQuery":{"from":"#
      + #"[{"collectionId":"rooms"}]},"parent":"\#(database)/documents"},"targetId":2}}"#

    private let ready: EventLoopPromise<Void>
    private let tally: ChannelTally
    private var received = ""
    private var isOpen = false

    init(_ ready: EventLoopPromise<Void>, _ tally: ChannelTally) {
      self.ready = ready
      self.tally = tally
    }

    func channelActive(context: ChannelHandlerContext) {
      let escaped = Self.message.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      let body = "count=1&ofs=0&req0___data__=\(escaped)"
      send(
        "POST \(Self.path)&RID=1 HTTP/1.1\r\nHost: localhost\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let text = String(buffer: unwrapInboundIn(data))
      if isOpen {
        // Changes are counted by a name that each has once; a read may end within it.
        received += text
        let changes = received.split(
          separator: #""documentChange""#, omittingEmptySubsequences: false)
        received = String(changes.last?.suffix(15) ?? "")
        return tally.count(changes.count - 1)
      }
      received += text
      if let found = received.firstMatch(of: /\["c","([\w-]+)"/) {
        let session = found.output.1
        received = ""
        send(
          "GET \(Self.path)&SID=\(session)&RID=rpc&AID=0&CI=0&TYPE=xmlhttp HTTP/1.1\r\n"
            + "Host: localhost\r\n\r\n", context)
      } else if received.contains("CURRENT") {
        received = ""
        isOpen = true
        ready.succeed()
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      ready.fail(ChannelError.eof)
      context.fireChannelInactive()
    }

    private func send(_ text: String, _ context: ChannelHandlerContext) {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }
  }
#endif
