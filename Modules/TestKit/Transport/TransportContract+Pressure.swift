import TernTransport

extension TransportContract {
  /// Back-pressure between the two ends of a link, and its independence of other links.
  static var pressureChecks: [TransportCheck] {
    [
      TransportCheck("a full receiver is felt by the sender", fullReceiver),
      TransportCheck("a pause holds frames back", pauseHolds),
      TransportCheck("little traffic tells no drain", noDrain),
    ]
  }

  /// More than the system's socket buffers hold.
  private static let floodBytes = 48 << 20

  private static func fullReceiver(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    let (other, echo) = try await bench.connect()
    echo.answer { frame, link in link.send(frame) }
    server.link.setReading(false)
    await bench.turn(bench.server)
    let block = frame(1, bytes: 256 << 10)
    let count = floodBytes / block.count
    for _ in 0..<count { client.send([block]) }
    // Long enough for the queue to empty itself, were the receiver not full.
    for round in 1...50 {
      other.send([[UInt8(round)]])
      _ = try await other.frames.first(round, "echoes on another link")
    }
    let queued = client.link.queuedBytes
    try require(queued > LinkPressure.highBytes, "only \(queued) bytes are queued")
    // While the system's buffers filled, the queue may have come and gone.
    let before = client.drains.count

    server.link.setReading(true)
    let received = try await server.frames.first(count, "blocks")
    try require(received.allSatisfy { $0 == block }, "a block was changed")
    let left = try await client.drains.first(before + 1, "drains")[before]
    try require(left <= LinkPressure.lowBytes, "drained with \(left) bytes queued")
    try await bench.settle("an empty queue") { client.link.queuedBytes == 0 }
    let drains = client.drains.count - before
    try require(drains == 1, "one pressure, \(drains) drains")
  }

  /// Sends to an end that has paused. An echo on another link shows that the transport goes on
  /// meanwhile.
  private static func pauseHolds(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    let (other, echo) = try await bench.connect()
    echo.answer { frame, link in link.send(frame) }
    server.link.setReading(false)
    await bench.turn(bench.server)
    client.send([[1]])
    other.send([[2]])
    _ = try await other.frames.first(1, "echo on another link")
    await bench.turn(bench.server)
    try require(server.frames.count == 0, "a frame came through a pause")
    server.link.setReading(true)
    _ = try await server.frames.first(1, "frame after the pause")
  }

  private static func noDrain(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    for number in 0..<100 { client.send([frame(number, bytes: 100)]) }
    _ = try await server.frames.first(100, "frames")
    try await bench.settle("an empty queue") { client.link.queuedBytes == 0 }
    try require(client.drains.count == 0, "a drain was told without pressure")
  }
}
