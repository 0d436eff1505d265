import TernClient
import TernCore
import TernStorageMemory
import TernSync
import TernTestKit
import TernTransport
import TernTransportLoopback
import Testing

@Suite("what a developer hears of the connection") struct ConnectionNoticeTests {
  @Test(
    "the reason for no connection is reported once, however often it is tried",
    .timeLimit(.minutes(10)))
  func once() async throws {
    let notices = Notices()
    var options = ClientOptions()
    options.report = notices.add
    // No server listens on this network.
    let tern = try TernDatabase.open(
      ClientParts(queue: MemoryStore(), cache: MemoryStore(), transport: LoopbackTransport()),
      options: options, ambient: .patient)
    _ = try await tern.tree["a"].set(1)
    var waits = 0
    for await state in tern.tree.connection where state == .waiting {
      waits += 1
      if waits == 3 { break }
      await tern.tree.goOffline()
      await tern.tree.goOnline()
    }
    await tern.close()
    let reasons = notices.all.compactMap { notice -> TransportError? in
      if case .notConnected(let error) = notice { error } else { nil }
    }
    #expect(reasons.count == 1)
    #expect(notices.all.allSatisfy { "\($0)".hasPrefix("no connection: ") })
  }
}
