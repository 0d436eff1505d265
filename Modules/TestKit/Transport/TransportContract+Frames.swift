import TernTransport

extension TransportContract {
  /// Order, integrity, sharing and size of frames.
  static var frameChecks: [TransportCheck] {
    [
      TransportCheck("frames arrive whole and in order, both ways", framesArriveInOrder),
      TransportCheck("an empty frame is a frame", emptyFrame),
      TransportCheck("a frame of 10 MiB arrives", bigFrame),
      TransportCheck("frames for many links reach each of them, in their place", sharedFrames),
      TransportCheck("what is not flushed stays", unflushedStays),
      TransportCheck("the limit itself passes", limit: FrameLimit(bytes: 1000), limitPasses),
      TransportCheck(
        "one byte over the limit closes", limit: FrameLimit(bytes: 1000), overLimitCloses),
      TransportCheck("threads may share a link", sharedLink),
    ]
  }

  private static func framesArriveInOrder(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    server.answer { frame, link in link.send(frame) }
    let sent = (0..<1000).map { frame($0, bytes: $0 * 37 % 2000) }
    for (number, frame) in sent.enumerated() {
      client.link.send(frame)
      if number % 7 == 0 { client.link.flush() }
    }
    client.link.flush()
    let received = try await server.frames.first(sent.count, "frames at the server")
    try require(received == sent, "the server's frames differ from those sent")
    let echoed = try await client.frames.first(sent.count, "frames at the client")
    try require(echoed == sent, "the client's frames differ from those sent")
  }

  private static func emptyFrame(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    client.send([[], [1], []])
    let received = try await server.frames.first(3, "frames")
    try require(received == [[], [1], []], "received \(received)")
  }

  private static func bigFrame(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    let sent = frame(1, bytes: 10 << 20)
    client.send([sent, [9]])
    let received = try await server.frames.first(2, "frames")
    try require(received == [sent, [9]], "10 MiB were changed on the way")
  }

  private static func sharedFrames(_ bench: TransportBench) async throws {
    // Together more than a socket takes at once.
    let frames = [frame(1, bytes: 3), [], frame(2, bytes: 8 << 20), frame(3, bytes: 70_000)]
    let shared = SharedFrames(frames)
    var expected: [[UInt8]] = []
    for link in 0..<3 { expected += [[UInt8(link)]] + frames + frames + [[9]] }
    var received: [[UInt8]] = []
    for number in 0..<3 {
      let (client, server) = try await bench.connect()
      client.link.send([UInt8(number)])
      client.link.send(shared)
      client.link.flush()
      client.link.send(shared)
      client.link.send([9])
      client.link.flush()
      received += try await server.frames.first(2 + 2 * frames.count, "frames")
    }
    try require(received == expected, "shared frames were changed or mixed up")
  }

  /// Sends without a flush. A transport that sends early breaks the batching of its callers.
  private static func unflushedStays(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    client.link.send([1])
    for _ in 0..<3 {
      await bench.turn(bench.client)
      await bench.turn(bench.server)
    }
    try require(server.frames.count == 0, "a frame left before the flush")
    try require(client.link.queuedBytes > 0, "an unflushed frame is queued")
    client.link.flush()
    _ = try await server.frames.first(1, "frame")
  }

  private static func limitPasses(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    let sent = frame(1, bytes: 1000)
    client.send([sent])
    let received = try await server.frames.first(1, "frame")
    try require(received == [sent], "the frame was changed")
  }

  /// Sends a frame that is too large. The sender's end closes, and what was sent before still
  /// arrives.
  private static func overLimitCloses(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    client.send([[1], frame(1, bytes: 1001), [2]])
    try await client.expectClose(.frameTooLarge(bytes: 1001, limitBytes: 1000))
    try await server.expectClose(.closedByPeer)
    try require(server.frames.elements == [[1]], "received \(server.frames.elements.count)")
  }

  /// Sends from several threads. Frames of one thread keep their order among each other.
  private static func sharedLink(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    await withTaskGroup(of: Void.self) { group in
      for sender in 0..<4 {
        group.addTask {
          for number in 0..<250 { client.send([[UInt8(sender), UInt8(number)]]) }
        }
      }
    }
    let received = try await server.frames.first(1000, "frames")
    for sender in 0..<4 {
      let numbers = received.filter { $0.first == UInt8(sender) }.map { $0[1] }
      try require(numbers == Array(0..<250), "sender \(sender) was reordered")
    }
  }
}
