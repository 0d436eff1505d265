import Synchronization
import TernLedger
import TernStorageMemory
import TernTransport
import TernTransportLoopback
import Testing

@testable import TernServer

/// A network whose door takes its time to open: something happens before it is told that it has.
private final class SlowDoor: Transport {
  let base = LoopbackTransport()
  private let meanwhile: @Sendable () async -> Void

  init(meanwhile: @escaping @Sendable () async -> Void) { self.meanwhile = meanwhile }

  var executor: any SerialExecutor { base.executor }

  func enqueue(_ work: @escaping @Sendable () -> Void) { base.enqueue(work) }

  func connect(_ open: @escaping LinkOpening) async throws(TransportError) -> any Link {
    try await base.connect(open)
  }

  func listen(
    _ accept: @escaping LinkOpening
  ) async throws(TransportError) -> any TransportListener {
    let listener = try await base.listen(accept)
    await meanwhile()
    return listener
  }

  func shutdown() async { await base.shutdown() }
}

@Suite("Doors of a server", .timeLimit(.minutes(1)))
struct DoorTests {
  @Test("a door that opens while the server stops is closed again")
  func stoppedMeanwhile() async throws {
    let home = LoopbackTransport()
    let server = try await TernServer(
      ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: home)
    let slow = SlowDoor { await server.stop() }
    await #expect(throws: ServerError.stopped) { try await server.listen(on: slow) }
    await #expect(throws: TransportError.refused(host: "loopback", port: 0)) {
      try await RawClient.connect(slow)
    }
  }
}
