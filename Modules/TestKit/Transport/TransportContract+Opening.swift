import TernTransport

extension TransportContract {
  /// Checks of how links open, and the executor that their handlers are called on.
  static var openingChecks: [TransportCheck] {
    [
      TransportCheck("many links are kept apart", manyLinks),
      TransportCheck("an acceptor may speak first", acceptorSpeaksFirst),
      TransportCheck("an acceptor may close at once", acceptorCloses),
      TransportCheck("an actor on the executor is never left", actorOnExecutor),
      TransportCheck("work runs on the executor in order", workInOrder),
      TransportCheck("an address has one listener", oneListener),
      TransportCheck("a closed listener refuses, and its links stay", closedListener),
    ]
  }

  private static func manyLinks(_ bench: TransportBench) async throws {
    var links: [(client: RecordingHandler, server: RecordingHandler)] = []
    for _ in 0..<200 { links.append(try await bench.connect()) }
    for (number, link) in links.enumerated() {
      link.server.answer { frame, link in link.send(frame + [1]) }
      link.client.send([[UInt8(number)]])
    }
    for (number, link) in links.enumerated() {
      let answer = try await link.client.frames.first(1, "answer")
      try require(answer == [[UInt8(number), 1]], "link \(number) received \(answer)")
    }
  }

  private static func acceptorSpeaksFirst(_ bench: TransportBench) async throws {
    bench.accept { link in
      link.send([1, 2])
      link.flush()
      return RecordingHandler(link)
    }
    let client = try await bench.open()
    let greeting = try await client.frames.first(1, "greeting")
    try require(greeting == [[1, 2]], "greeted with \(greeting)")
  }

  private static func acceptorCloses(_ bench: TransportBench) async throws {
    let accepted = Inbox<RecordingHandler>()
    bench.accept { link in
      link.send([1, 2])
      link.close()
      let handler = RecordingHandler(link)
      accepted.add(handler)
      return handler
    }
    do {
      let client = try await bench.open()
      try await client.expectClose(.closedByPeer)
      try require(client.frames.elements == [[1, 2]], "received \(client.frames.elements)")
    } catch TransportError.unreachable {
      // A transport that greets may find the connection ended before its link is open.
    }
    let server = try await accepted.first(1, "acceptor")[0]
    try await server.expectClose(.closedHere)
    try server.check()
  }

  /// Accepts with an actor on the executor. An actor on the executor takes callbacks synchronously,
  /// so any other thread would stop the program here.
  private static func actorOnExecutor(_ bench: TransportBench) async throws {
    let resident = Resident(bench.server.executor)
    bench.accept { resident.adopt($0) }
    let client = try await bench.open()
    client.send([[1], [2]])
    _ = try await client.frames.first(2, "answers")
    client.link.close()
    _ = try await resident.ended.first(1, "close")
    let count = await resident.received
    try require(count == 2, "the actor received \(count)")
  }

  private static func workInOrder(_ bench: TransportBench) async throws {
    let numbers = Inbox<Int>()
    for number in 0..<1000 { bench.server.enqueue { numbers.add(number) } }
    let order = try await numbers.first(1000, "pieces of work")
    try require(order == Array(0..<1000), "work was reordered")
  }

  private static func oneListener(_ bench: TransportBench) async throws {
    do throws(TransportError) {
      let second = try await bench.client.listen { RecordingHandler($0) }
      await second.close()
    } catch {
      guard case .addressInUse = error else {
        throw TransportFailure("a second listener threw \(error)")
      }
      return
    }
    throw TransportFailure("two listeners share an address")
  }

  private static func closedListener(_ bench: TransportBench) async throws {
    let (client, server) = try await bench.connect()
    await bench.listener.close()
    await bench.listener.close()
    do throws(TransportError) {
      _ = try await bench.client.connect { RecordingHandler($0) }
    } catch {
      guard case .refused = error else {
        throw TransportFailure("a closed listener: \(error)")
      }
      client.send([[5]])
      _ = try await server.frames.first(1, "frame over a link that was open")
      return
    }
    throw TransportFailure("a closed listener accepted")
  }
}

/// An actor that lives on a transport's executor and takes its callbacks without a hop.
private actor Resident {
  private let executor: any SerialExecutor
  let ended = Inbox<LinkClosure>()
  private(set) var received = 0

  init(_ executor: any SerialExecutor) {
    self.executor = executor
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  nonisolated func adopt(_ link: any Link) -> any LinkHandler {
    assumeIsolated { _ in }
    return AcceptingListener(self, link)
  }

  func receive(_ frames: [[UInt8]], from link: any Link) {
    received += frames.count
    for frame in frames { link.send(frame) }
    link.flush()
  }

  private final class AcceptingListener: LinkHandler {
    private let resident: Resident
    private let link: any Link

    init(_ resident: Resident, _ link: any Link) {
      self.resident = resident
      self.link = link
    }

    func linkDidReceive(_ frames: [[UInt8]]) {
      resident.assumeIsolated { $0.receive(frames, from: link) }
    }

    func linkDidClose(_ reason: LinkClosure) {
      resident.assumeIsolated { _ in }
      resident.ended.add(reason)
    }
  }
}
