#if TCP
  import Foundation
  import NIOCore
  import TernCore
  import TernQuery
  import TernTreeWire

  extension FanOutProtocol {
    /// Listens to `/news` and sets it, as our own clients do: every write is durable, and told
    /// to the listeners when it is.
    static func tree(payloadBytes: Int) throws -> FanOutProtocol {
      let path = try TreePath("news")
      let stream = UInt128.random(in: 0...UInt128.max)
      let plain = TreeClientMessage.open(TreeOpening())
      let writing = TreeClientMessage.open(TreeOpening(stream: stream))
      let listen = TreeClientMessage.request(1, .listen(TreeListen(path: path, query: .all)))
      let payload = String(repeating: "x", count: payloadBytes)
      let numbers = Numbers()
      return FanOutProtocol(
        subscribe: TCPFrames.preamble + TCPFrames.frame(plain.encode())
          + TCPFrames.frame(listen.encode()),
        greeting: TCPFrames.preamble + TCPFrames.frame(writing.encode()),
        publish: { _ in
          let number = numbers.next()
          return TCPFrames.frame(
            Array(
              (#"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/news","d":"\#(payload)","#
                + #""w":\#(number),"wa":\#(number - 1)}}}"#).utf8))
        },
        take: { take(&$0, payloadBytes: payloadBytes) })
    }

    private static func take(_ buffer: inout ByteBuffer, payloadBytes: Int) -> Taken {
      var taken = Taken()
      while let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) {
        if length == 0x5445_524E {
          guard buffer.readableBytes >= 8 else { break }
          buffer.moveReaderIndex(forwardBy: 8)
          continue
        }
        guard buffer.readableBytes >= 4 + Int(length) else { break }
        buffer.moveReaderIndex(forwardBy: 4)
        taken.count(&buffer, bytes: Int(length), payloadBytes: payloadBytes)
      }
      return taken
    }

    /// Counts the writes of the one publisher.
    ///
    /// `@unchecked Sendable` is sound because only the publisher's loop uses it.
    private final class Numbers: @unchecked Sendable {
      private var last = 0

      func next() -> Int {
        last += 1
        return last
      }
    }
  }

  extension FanOutProtocol.Taken {
    /// Removes one message of the tree's dialect, and counts it for what it is.
    mutating func count(_ buffer: inout ByteBuffer, bytes: Int, payloadBytes: Int) {
      // {"t":"c",... greets, {"t":"d","d":{"r":... answers the listen, {"t":"d","d":{"a":... tells.
      let start = buffer.readerIndex
      let kind = buffer.getInteger(at: start + #"{"t":"d","d":{""#.utf8.count, as: UInt8.self)
      let type = buffer.getInteger(at: start + 6, as: UInt8.self)
      buffer.moveReaderIndex(forwardBy: bytes)
      if type != UInt8(ascii: "d") { return }
      if kind == UInt8(ascii: "r") {
        confirmations += 1
      } else if bytes > payloadBytes {
        messages += 1
      }
    }
  }

  /// One writer, many listeners: the server on durable SQLite against redis-server's channels.
  enum TreeFanOut {
    static func run(messages: Int = 2_000, rounds: Int = 3) async throws -> [BenchLine] {
      var rates: [String: [Double]] = [:]
      var slowest: [String: [Double]] = [:]
      var costs: [String: [Double]] = [:]
      for _ in 0..<rounds {
        for server in ["redis", "tern"] {
          let result = try await measure(server, messages)
          let times = result.latencies.map { $0 / .microseconds(1) }
          rates[server, default: []].append(result.deliveriesPerSecond)
          costs[server, default: []].append(result.serverNanoseconds)
          slowest[server, default: []].append(times[times.count * 99 / 100])
        }
      }
      func median(_ values: [String: [Double]], _ server: String) -> Double {
        BenchLine.median(values[server] ?? [0])
      }
      print(
        "processor time of the server, ns a delivery: tern \(Int(median(costs, "tern"))),",
        "redis \(Int(median(costs, "redis")))")
      return [
        BenchLine(
          name: "events to 1,000 listeners: redis", rate: median(rates, "tern"),
          baseline: median(rates, "redis"), target: 1),
        // As rates, so that more is better here too: deliveries at p99 in a second.
        BenchLine(
          name: "1/p99 at 50 writes/s: redis", rate: 1e6 / median(slowest, "tern"),
          baseline: 1e6 / median(slowest, "redis"), target: 1),
      ]
    }

    private static func measure(
      _ server: String, _ messages: Int
    ) async throws -> FanOutClient.Result {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let process = try server == "tern" ? ChildServer.tree(in: folder.path) : ChildServer.redis()
      defer { process.stop() }
      let payload = [UInt8](repeating: UInt8(ascii: "x"), count: 100)
      let language =
        server == "tern"
        ? try FanOutProtocol.tree(payloadBytes: 100) : FanOutProtocol.redis(payload: payload)
      let client = FanOutClient(server: process, subscribers: 1_000, language: language)
      return try await client.run(messages: messages, paced: 100, perSecond: 50)
    }
  }
#endif
