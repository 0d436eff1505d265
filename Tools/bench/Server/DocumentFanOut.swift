#if TCP
  import Foundation
  import NIOCore
  import TernCore
  import TernDocumentWire
  import TernQuery

  extension FanOutProtocol {
    /// Watches the collection `rooms` and sets a document of it: every commit is durable, and told
    /// when it is.
    static func documents(payloadBytes: Int) throws -> FanOutProtocol {
      let database = try DocumentDatabase(projectID: "bench")
      let rooms = DocumentQuery.collection(try CollectionPath("rooms"))
      let target = WatchTarget(id: 2, subject: .query(rooms.target))
      let listen = DocumentRequest(.listen(.add(target)), in: database).encode()
      let key = try DocumentKey("rooms/r")
      let payload = DocumentValue.string(String(repeating: "x", count: payloadBytes))
      let numbers = Numbers()
      return FanOutProtocol(
        subscribe: TCPFrames.preamble
          + TCPFrames.frame(
            DocumentClientFrame.open(stream: 1, DocumentCallOpening(.listen)).encode())
          + TCPFrames.frame(DocumentClientFrame.message(stream: 1, listen).encode()),
        greeting: TCPFrames.preamble,
        publish: { _ in
          let number = numbers.next()
          let fields: DocumentFields = ["n": .integer(Int64(number)), "t": payload]
          let write = DocumentMutation(key, .set(fields))
          let request = DocumentRequest(.commit([write], transaction: [], nil), in: database)
          let opening = DocumentCallOpening(.commit, message: request.encode())
          return TCPFrames.frame(
            DocumentClientFrame.open(stream: UInt32(number), opening).encode())
        },
        take: { take(&$0) })
    }

    private static func take(_ buffer: inout ByteBuffer) -> Taken {
      var taken = Taken()
      while let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) {
        if length == 0x5445_524E {
          guard buffer.readableBytes >= 8 else { break }
          buffer.moveReaderIndex(forwardBy: 8)
          continue
        }
        let start = buffer.readerIndex + 4
        guard buffer.readableBytes >= 4 + Int(length) else { break }
        // Kind and call in a byte each, then the first field of a ListenResponse: a changed
        // document, or a change of the target, the number of whose type follows.
        let field = buffer.getInteger(at: start + 2, as: UInt8.self)
        let type = buffer.getInteger(at: start + 5, as: UInt8.self)
        buffer.moveReaderIndex(forwardBy: 4 + Int(length))
        if field == 0x1A {
          taken.messages += 1
        } else if field == 0x12, type == 3 {
          taken.confirmations += 1
        }
      }
      return taken
    }

    /// Counts the calls of the one publisher.
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

  /// One writer, 1,000 listeners over TCP, the server in a process of its own: documents beside
  /// the tree, which the same server serves to the same client program.
  enum DocumentFanOut {
    private static let perSecond = 100

    static func run(messages: Int = 1_000, rounds: Int = 3) async throws -> [BenchLine] {
      var results: [String: [FanOutClient.Result]] = [:]
      for _ in 0..<rounds {
        for model in ["tree", "documents"] {
          results[model, default: []].append(try await measure(model, messages))
        }
      }
      func median(_ model: String, _ value: (FanOutClient.Result) -> Double) -> Double {
        BenchLine.median((results[model] ?? []).map(value))
      }
      func last(_ model: String, _ part: Int) -> Double {
        median(model) { $0.lastLatencies[$0.lastLatencies.count * part / 100] / .milliseconds(1) }
      }
      for model in ["tree", "documents"] {
        print(
          "\(model): commit to last of 1,000 listeners at \(perSecond) writes/s, ms:",
          "p50 \(BenchLine.tenths(last(model, 50))), p99 \(BenchLine.tenths(last(model, 99)));",
          "\(Int(median(model) { $0.pacedNanoseconds })) ns of the server a delivery and",
          "\(Int(median(model) { $0.clientNanoseconds })) of the listener;",
          "as fast as it can \(Int(median(model) { $0.serverNanoseconds })) ns")
      }
      let rate = { (model: String) in median(model) { $0.deliveriesPerSecond } }
      try await DocumentResume.run()
      return [
        BenchLine(
          name: "events to 1,000 listeners: tree", rate: rate("documents"),
          baseline: rate("tree"), target: 0.5),
        BenchLine(
          name: "1/p99 of the last at 100/s: 100 ms", rate: 1_000 / last("documents", 99),
          baseline: 10, target: 1),
      ]
    }

    private static func measure(
      _ model: String, _ messages: Int
    ) async throws -> FanOutClient.Result {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let process = try ChildServer.tree(in: folder.path)
      defer { process.stop() }
      let language =
        model == "tree"
        ? try FanOutProtocol.tree(payloadBytes: 100)
        : try FanOutProtocol.documents(payloadBytes: 100)
      let client = FanOutClient(server: process, subscribers: 1_000, language: language)
      return try await client.run(
        messages: messages, paced: 5 * perSecond, perSecond: perSecond)
    }
  }
#endif
