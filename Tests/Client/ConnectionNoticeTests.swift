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

  @Test(
    "a write over the limit of the transport is reported, once", .timeLimit(.minutes(10)))
  func frameTooLarge() async throws {
    let home = try await Home(limit: FrameLimit(bytes: 4_096))
    let notices = Notices()
    let tern = try home.client { $0.report = notices.add }
    _ = try await tern.tree["a"].set(
      TreeNode(TreeScalar.string(String(repeating: "x", count: 5_000))))
    var waits = 0
    for await state in tern.tree.connection where state == .waiting {
      waits += 1
      if waits == 3 { break }
      await tern.tree.goOffline()
      await tern.tree.goOnline()
    }
    await tern.close()
    let sizes = notices.all.compactMap { notice -> Int? in
      guard case .frameTooLarge(let bytes, let limit) = notice else { return nil }
      #expect(limit == 4_096 && bytes > 5_000)
      return bytes
    }
    #expect(sizes.count == 1)
  }
}
