import TernTransport

extension TransportContract {
  /// The end of a link: from either end, at any moment, and of the whole transport.
  static var closingChecks: [TransportCheck] {
    [
      TransportCheck("a close is told at both ends, once", closeIsTold),
      TransportCheck("the accepting end may close", serverCloses),
      TransportCheck("an abort is told as a close of this end", abortIsTold),
      TransportCheck("both ends may close at once", bothClose),
      TransportCheck("a close delivers what was sent before", closeDelivers),
      TransportCheck("frames after a close are dropped", closedIsClosed),
      TransportCheck("a pause ends with the peer's close", closeWhilePaused),
      TransportCheck("a handler may close in the middle of a delivery", closeInDelivery),
      TransportCheck("shutdown closes every link", shutdownCloses),
      TransportCheck("an actor on the executor outlives the shutdown", actorOutlivesShutdown),
    ]
  }

  private static func closeIsTold(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    client.link.close()
    client.link.close()
    try await client.expectClose(.closedHere)
    try await server.expectClose(.closedByPeer)
    server.link.close()
    await bench.turn(bench.client)
    await bench.turn(bench.server)
    try client.check()
    try server.check()
    try require(client.link.queuedBytes == 0, "a closed link queues nothing")
  }

  private static func abortIsTold(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    client.link.abort()
    client.link.abort()
    try await client.expectClose(.closedHere)
    _ = try await server.closures.first(1, "close")
    try client.check()
    try server.check()
  }

  private static func serverCloses(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    server.send([[7]])
    server.link.close()
    try await server.expectClose(.closedHere)
    try await client.expectClose(.closedByPeer)
    try require(client.frames.elements == [[7]], "the last frame was lost")
  }

  /// Closes both ends at once. Each end may see its own close or the other's first, and must see
  /// one.
  private static func bothClose(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    client.link.close()
    server.link.close()
    try await client.expectClose(.closedHere, .closedByPeer)
    try await server.expectClose(.closedHere, .closedByPeer)
  }

  private static func closeDelivers(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    // Answers that the closing end no longer reads must not destroy what it sent.
    server.answer { frame, link in link.send(frame) }
    let sent = (0..<300).map { frame($0, bytes: 64 << 10) }
    for frame in sent { client.link.send(frame) }
    client.link.close()
    try await client.expectClose(.closedHere)
    try await server.expectClose(.closedByPeer)
    let received = server.frames.elements
    try require(received == sent, "\(received.count) of \(sent.count) frames arrived")
  }

  private static func closedIsClosed(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    client.send([[1]])
    client.link.close()
    client.send([[2]])
    try await server.expectClose(.closedByPeer)
    try require(server.frames.elements == [[1]], "received \(server.frames.elements)")
    server.send([[3]])
    client.send([[4]])
    await bench.turn(bench.server)
    try require(client.frames.count == 0, "a closed link received")
    try require(server.link.queuedBytes == 0, "a closed link queues nothing")
  }

  /// Closes a link whose other end has paused. A receiver that paused for lack of room must still
  /// learn that its peer is gone.
  private static func closeWhilePaused(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    server.link.setReading(false)
    await bench.turn(bench.server)
    client.send([[1], [2]])
    client.link.close()
    try await server.expectClose(.closedByPeer)
    try require(server.frames.elements == [[1], [2]], "received \(server.frames.elements)")
  }

  private static func closeInDelivery(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    server.answer { frame, link in
      link.send(frame)
      link.close()
    }
    client.send([[1]])
    try await server.expectClose(.closedHere)
    try await client.expectClose(.closedByPeer)
    try require(client.frames.elements == [[1]], "received \(client.frames.elements)")
  }

  private static func shutdownCloses(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    await bench.server.shutdown()
    try require(server.closures.count == 1, "shutdown returned before the close was told")
    try await client.expectClose(.closedByPeer, .closedHere)
    await bench.client.shutdown()
    do throws(TransportError) {
      _ = try await bench.client.connect { RecordingHandler($0) }
      throw TransportError.refused(host: "a link after shutdown", port: 0)
    } catch {
      try require(error == .shutDown, "connect after shutdown threw \(error)")
    }
  }

  /// Tasks that hold something while they wait, as a batch that is being stored, have to go on.
  private static func actorOutlivesShutdown(_ bench: TransportBench) async throws {
    let resident = Outliver(bench.server.executor)
    let (begun, gate, ended) = (Inbox<Int>(), Inbox<Int>(), Inbox<Int>())
    for number in 0..<100 {
      Task {
        await resident.begin(begun)
        _ = try await gate.first(1, "gate")
        await resident.end(number, ended)
      }
    }
    _ = try await begun.first(100, "tasks on the executor")
    let closing = Task { await bench.server.shutdown() }
    gate.add(0)
    await closing.value
    let last = Outliver(bench.server.executor)
    Task { await last.end(100, ended) }
    bench.server.enqueue { last.assumeIsolated { $0.end(101, ended) } }
    let numbers = try await ended.first(102, "tasks that went on")
    try require(numbers.sorted() == Array(0...101), "went on: \(numbers)")
  }
}

/// An actor on a transport's executor whose tasks are longer than the transport's life.
private actor Outliver {
  private let executor: any SerialExecutor

  init(_ executor: any SerialExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  func begin(_ inbox: Inbox<Int>) { inbox.add(0) }

  func end(_ number: Int, _ inbox: Inbox<Int>) {
    assumeIsolated { _ in inbox.add(number) }
  }
}
