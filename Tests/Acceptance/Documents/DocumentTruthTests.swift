import Synchronization
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernQuery
import Testing

@testable import TernClient

/// The metadata of a snapshot is true, whatever the network does.
@Suite struct DocumentTruthTests {
  /// Compares what a client is told with what it tells its listeners.
  private final class Witness: Sendable {
    private struct State {
      /// The documents on the server, as far as its answers tell.
      var written = 0
      /// The number of them when the connection was opened.
      var pendingEffects = 0
      /// The client, once it is there. What passes on its link is noted in the order in which it
      /// takes it in: a message that waits for it explains nothing yet.
      var session: DocumentSession?
      /// True when the server said CURRENT on this connection, with the effects of the last one
      /// that did.
      var isCurrent = false
      var owedThen = 0
      /// The number of messages since then that complete a client's data: CURRENT, a snapshot of
      /// all targets, or the end of a target that the others waited for.
      var grounds = 0
      /// The number of them when a listener last received an event from the cache.
      var groundsOfCached = 0
      var lies: [String] = []
      var truths = 0
      var last = ""
    }

    private let state = Mutex(State())
    private let names: DocumentNames

    init(_ database: DocumentDatabase) { names = DocumentNames(database) }

    /// A document was acknowledged by the server.
    func wrote() { state.withLock { $0.written += 1 } }

    func attach(_ session: DocumentSession) { state.withLock { $0.session = session } }

    func see(_ event: Cable.Event) {
      switch event {
      case .attempted, .sent: break
      case .opened:
        let written = state.withLock { $0.written }
        note { state in
          state.pendingEffects = written
          state.isCurrent = false
        }
      case .received(let frames):
        for change in frames.compactMap(targetChange) { see(change) }
      }
    }

    private func see(_ change: WatchTargetChange) {
      switch change.kind {
      case .current:
        note { state in
          state.isCurrent = true
          state.owedThen = state.pendingEffects
          state.grounds += 1
        }
      case .removed: note { state in if state.isCurrent { state.grounds += 1 } }
      case .none where change.targets.isEmpty:
        note { state in if state.isCurrent { state.grounds += 1 } }
      case .none, .added, .reset: break
      }
    }

    private func note(_ change: @escaping @Sendable (inout State) -> Void) {
      guard let session = state.withLock({ $0.session }) else {
        return state.withLock { change(&$0) }
      }
      session.post(.call { _ in self.state.withLock { change(&$0) } })
    }

    private func targetChange(_ frame: [UInt8]) -> WatchTargetChange? {
      guard case .message(_, let message)? = try? DocumentServerFrame.decode(frame),
        case .listen(.target(let change))? = try? DocumentResponse.decode(.listen, message, names)
      else { return nil }
      return change
    }

    /// A listener heard a snapshot.
    func hear(_ snapshot: DocumentViewSnapshot) {
      state.withLock { state in
        let count = snapshot.documents.count
        state.last = "\(count)" + (snapshot.isFromCache ? " from cache" : "")
        if snapshot.isFromCache {
          state.groundsOfCached = state.grounds
          return
        }
        state.truths += 1
        if state.grounds == state.groundsOfCached {
          state.lies.append("\(count) documents, before the server said that this is all")
        }
        if count < state.owedThen {
          state.lies.append("\(count) documents, of \(state.owedThen) the server had before")
        }
      }
    }

    var lies: [String] { state.withLock { $0.lies } }
    var truths: Int { state.withLock { $0.truths } }
    var last: String { state.withLock { $0.last } }
  }

  @Test(
    "F19 what is not from the cache is complete: never before the server said so",
    arguments: Setting.all, UInt64(1)...3)
  func truth(setting: Setting, seed: UInt64) async throws {
    var dice = Dice(seed: seed)
    let house = try await DocumentHouse(setting)
    let witness = Witness(try DocumentDatabase(projectID: "demo"))
    let db = try await house.open("a", tapped: witness.see)
    witness.attach(db.session)
    let writer = try await house.open("b")
    let query = try db.collection("log").where("n", .greaterThanOrEqual, 0).checked()
    let ended = Trace()
    let hearer = DocumentEventHandler(heard: witness.hear, ended: { ended.add("\($0)") })
    let options = DocumentListenOptions(includesMetadata: true)
    var listener = await db.session.listen(query, options, hearer)
    var (local, remote) = (0, 0)
    for _ in 1...40 {
      switch dice.next(below: 10) {
      case 0: try house.flap("a")
      case 1: try house.unplug("a")
      case 2: try house.mend("a")
      case 3: await db.goOffline()
      case 4: await db.goOnline()
      case 5:
        local += 1
        try await db.document("log/a\(local)").set(["n": .value(.integer(Int64(local)))])
      case 6:
        // The same listen again, from what it left behind.
        if let listener { await db.session.unlisten(listener) }
        listener = await db.session.listen(query, options, hearer)
      default:
        remote += 1
        try await writer.document("log/b\(remote)")
          .set(["n": .value(.integer(Int64(remote)))]).acknowledged()
        witness.wrote()
      }
    }
    try await house.plug("a")
    try await db.waitForPendingWrites()
    // A client that was just plugged in may not have noticed, and would refuse to ask the server.
    let heard = Trace()
    let listening = heard.listen(db.collection("log"))
    try await heard.wait { $0.last.map { !$0.hasSuffix("from cache") } ?? false }
    let total = try await db.collection("log").get(from: .server).count
    #expect(total == local + remote)
    #expect(witness.lies.isEmpty, "seed \(seed)")
    #expect(witness.truths > 0)
    #expect(ended.entries.isEmpty)
    listening.cancel()
    try await house.close()
  }
}

/// Small choices under a seed.
private struct Dice {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next(below bound: UInt64) -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return (state >> 11) % bound
  }
}
