#if TCP
  import NIOCore
  import NIOPosix

  /// Reads one page of a server again and again over a kept connection, as the scrapers of
  /// operators do.
  struct PageReader {
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private let request: ByteBuffer

    /// Connects, on a thread of NIO's own.
    init(_ path: String, at port: Int) async throws {
      channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .connect(host: "127.0.0.1", port: port) { channel in
          channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel(wrappingChannelSynchronously: channel)
          }
        }
      request = ByteBuffer(string: "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    /// Reads the page while `goesOn` returns true, which is asked with the number of pages so far,
    /// and closes the connection.
    func read(while goesOn: (Int) async -> Bool) async throws {
      try await channel.executeThenClose { inbound, outbound in
        var parts = inbound.makeAsyncIterator()
        var count = 0
        while await goesOn(count) {
          try await outbound.write(request)
          var answer = ByteBuffer()
          repeat {
            guard var part = try await parts.next() else {
              throw BenchFailure(reason: "the connection of a reader ended")
            }
            answer.writeBuffer(&part)
          } while try !Self.isWhole(answer)
          count += 1
        }
      }
    }

    private static func isWhole(_ answer: ByteBuffer) throws -> Bool {
      let text = String(buffer: answer)
      guard let end = text.firstRange(of: "\r\n\r\n") else { return false }
      let head = text[..<end.lowerBound].lowercased()
      guard head.hasPrefix("http/1.1 200"),
        let field = head.split(separator: "\r\n").first(where: { $0.hasPrefix("content-length:") }),
        let length = Int(field.drop { $0 != ":" }.dropFirst().drop { $0 == " " })
      else { throw BenchFailure(reason: "no page: \(head)") }
      return text[end.upperBound...].utf8.count >= length
    }
  }
#endif
