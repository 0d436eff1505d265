import Foundation
import Synchronization
import TernAssembly
import TernCore
import TernQuery
import TernStandard
import Testing

@testable import TernClient
@testable import TernFirebaseCompat

@Suite("Calls while as many wait as may", .timeLimit(.minutes(10)))
struct BusySessionTests {
  /// Keeps a session from taking calls.
  private final class Gate: Sendable {
    private let isOpen = DispatchSemaphore(value: 0)
    private let isReached = Promise<Void>()

    func hold(_ session: TreeSession) async {
      session.submit { [self] _ in
        isReached.resolve(())
        isOpen.wait()
      }
      await isReached.value()
    }

    func open() { isOpen.signal() }
  }

  private func database() -> Database {
    let database = Database(address: "localhost") { _ in
      var options = ClientOptions()
      options.waiting.calls = 1
      return try await Assembler(catalog: .standard).client(
        from: Configuration(storage: ["kind": "memory"], transport: ["kind": "loopback"]),
        options: options)
    }
    database.callbackQueue = DispatchQueue(label: "callbacks")
    return database
  }

  @Test("what ends something is never lost")
  func ends() async throws {
    let database = database()
    let tern = try await database.native()
    await tern.goOffline()
    let gate = Gate()
    let place = database.reference(withPath: "a")
    let heard = Answer<Int>()
    let handle = place.observe(.value) { heard.give($0.value as? Int ?? 0) }
    try await tern.tree["a"].set(1)
    #expect(await heard.next() == 1)

    await gate.hold(tern.tree.session)
    let refused = Answer<Bool>()
    // Takes the only place; the next one is refused.
    place.setValue(2) { _, _ in }
    place.child("b").setValue(3) { error, _ in refused.give(error != nil) }
    #expect(await refused.next() == true)
    place.removeObserver(withHandle: handle)
    database.goOnline()
    place.keepSynced(true)
    gate.open()
    let session = tern.tree.session
    await session.queueSettled()
    #expect(await session.listeners.count == 1, "that of .info alone")
    #expect(await session.machine.exchange.channel.connection.isWanted)
    let path = try TreePath("a")
    #expect(await session.machine.viewState(at: path, query: .all) != nil)
    await database.close()
  }

  @Test("a call that is always taken reaches a session that refuses others")
  func alwaysTaken() async throws {
    let buffer = CallBuffer<FullSession> { NSError(domain: "\($0)", code: 1) }
    let session = FullSession()
    let called = Answer<String>()
    buffer.open { session }
    _ = try await buffer.session()
    buffer.submit({ _ in called.give("counted") }, failed: { _ in called.give("refused") })
    #expect(await called.next() == "refused")
    buffer.submit { _ in called.give("taken") }
    #expect(await called.next() == "taken")
  }
}

/// A session for which as many calls wait as may.
private actor FullSession: CallableSession {
  nonisolated func submitCall(
    _ call: @escaping @Sendable (isolated FullSession) -> Void
  ) throws(SessionBusy) {
    throw SessionBusy(limit: 1)
  }

  nonisolated func submit(_ call: @escaping @Sendable (isolated FullSession) -> Void) {
    Task { await self.take(call) }
  }

  private func take(_ call: @Sendable (isolated FullSession) -> Void) { call(self) }
}
