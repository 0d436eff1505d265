import Synchronization
import TernTransport

/// A fresh network of the transport under test: one listener, and clients that connect to it.
final class TransportBench: Sendable {
  /// The end that listens.
  let server: any Transport
  /// The end that connects; it may be the same object.
  let client: any Transport
  let listener: any TransportListener
  /// The accepting ends, in the order in which they were accepted.
  private let accepted: Inbox<RecordingHandler>
  private let special: Special

  /// Another way to accept, for the check that needs one.
  private final class Special: Sendable {
    let accept = Mutex<LinkOpening?>(nil)
  }

  init(_ fixture: TransportFixture, limit: FrameLimit) async throws {
    let accepted = Inbox<RecordingHandler>()
    let special = Special()
    self.accepted = accepted
    self.special = special
    server = try fixture.makeServer(limit)
    listener = try await server.listen { link in
      if let accept = special.accept.withLock({ $0 }) { return accept(link) }
      let handler = RecordingHandler(link)
      accepted.add(handler)
      return handler
    }
    client = try fixture.makeClient(server, listener.address, limit)
  }

  /// Opens one link and returns what both ends record.
  ///
  /// It serves one connection at a time: the next link that is accepted is taken for the other end.
  func connect() async throws -> (client: RecordingHandler, server: RecordingHandler) {
    let count = accepted.count
    let near = try await open()
    return (near, try await accepted.first(count + 1, "links to be accepted")[count])
  }

  /// Opens one link and returns what the connecting end records.
  func open() async throws -> RecordingHandler {
    let made = Inbox<RecordingHandler>()
    try await client.connect { link in
      let handler = RecordingHandler(link)
      made.add(handler)
      return handler
    }
    try require(made.count == 1, "connect returned, and made \(made.count) handlers")
    return made.elements[0]
  }

  /// Accepts links in another way from now on.
  func accept(_ opening: @escaping LinkOpening) {
    special.accept.withLock { $0 = opening }
  }

  /// Waits until `condition` holds, asking again after everything that runs on the client's
  /// executor now.
  ///
  /// It polls, because the condition has no event of its own.
  ///
  /// - Throws: ``TransportFailure`` after ``Inbox/patience``.
  func settle(
    _ what: String, _ condition: @escaping @Sendable () -> Bool
  ) async throws {
    let deadline = ContinuousClock.now + Inbox<Void>.patience
    while !condition() {
      try require(ContinuousClock.now < deadline, "\(what) did not happen in time")
      await turn(client)
      await turn(server)
    }
  }

  /// Returns when everything that waited on the transport's executor has run.
  func turn(_ transport: any Transport) async {
    await withCheckedContinuation { continuation in
      transport.enqueue { continuation.resume() }
    }
  }

  /// Shuts both ends down, the connecting one first.
  func shutdown() async {
    await client.shutdown()
    await server.shutdown()
  }
}
