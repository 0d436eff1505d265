import TernCore
import TernDocumentWire
import TernTreeWire

/// The sessions of a server, by all their names.
struct SessionTable {
  private var bySlot: [Int: Session] = [:]
  /// By the id that a successor presents.
  private var byID: [UInt128: Session] = [:]
  /// By the name of their client.
  private var byOrigin: [SessionOrigin: Session] = [:]
  /// The sessions of the run before that left writes, by the name of their client.
  private var orphans: [SessionOrigin: [UInt128]] = [:]
  /// Sessions that have ended and whose listens are not removed yet, by slot. Their slots are not
  /// given to others meanwhile.
  private(set) var ending: [Int: Session] = [:]
  /// Requests that clients have made recently.
  var rates: RateTable

  init(_ limits: RateLimits) { rates = RateTable(limits) }

  var count: Int { bySlot.count }

  /// All sessions, in no order.
  var all: some Sequence<Session> { bySlot.values }

  /// All sessions, by slot.
  var inOrder: [Session] { bySlot.values.sorted { $0.slot < $1.slot } }

  /// The session of a link.
  subscript(slot: Int) -> Session? { bySlot[slot] }

  /// The session of that id.
  func session(_ id: UInt128) -> Session? { byID[id] }

  /// The open session of a client.
  func session(of origin: SessionOrigin) -> Session? { byOrigin[origin] }

  /// The sessions that were silent since `time`, in milliseconds of the uptime.
  func silent(since time: Int64) -> [Session] {
    bySlot.values.filter { $0.lastHeard < time }.sorted { $0.slot < $1.slot }
  }

  mutating func open(_ session: Session) {
    bySlot[session.slot] = session
    byID[session.id] = session
  }

  /// Gives a session another name, unless an open one has it.
  mutating func rename(_ session: Session, to id: UInt128) {
    guard byID[id] == nil else { return }
    byID[session.id] = nil
    session.id = id
    byID[id] = session
  }

  /// Names the client of a session.
  ///
  /// - Returns: The ids of its sessions of the run before that left writes.
  mutating func claim(_ origin: SessionOrigin, for session: Session) -> [UInt128] {
    byOrigin[origin] = session
    return orphans.removeValue(forKey: origin) ?? []
  }

  /// Notes a session of the run before that left writes.
  mutating func addOrphan(_ id: UInt128, of origin: SessionOrigin) {
    orphans[origin, default: []].append(id)
  }

  /// Ends the session of a link; its listens are removed later.
  mutating func end(_ slot: Int) -> Session? {
    guard let session = bySlot.removeValue(forKey: slot) else { return nil }
    byID[session.id] = nil
    if let origin = session.origin, byOrigin[origin] === session { byOrigin[origin] = nil }
    ending[slot] = session
    return session
  }

  /// Forgets a session whose listens are removed.
  mutating func finish(_ slot: Int) { ending[slot] = nil }

  /// Returns the messages that tell clients that the server has to let them go.
  ///
  /// - Parameters:
  ///   - slot: The link of the only client that is told; `nil` for all.
  ///   - returning: True to let clients of Tern's own connect to the same address again, at once.
  func farewells(
    _ reason: SessionEnd, to slot: Int? = nil, returning: Bool = false
  ) -> [ServerOutput] {
    var outputs: [ServerOutput] = []
    for session in slot.map({ slot in self[slot].map { [$0] } ?? [] }) ?? inOrder {
      guard let link = session.documents else {
        // Before its first frame the dialect of a link is not known.
        if session.isFresh { continue }
        // Clients that are not Tern's own would take the host for their next connections.
        let message: TreeServerMessage =
          returning && session.origin != nil
          ? .redirect(host: "") : .error(reason.description)
        outputs.append(.send(slot: session.slot, message.encode()))
        continue
      }
      let status = DocumentStatus(.unavailable, reason.description)
      for number in link.calls.keys.sorted() {
        let frame = DocumentServerFrame.end(stream: number, status)
        outputs.append(.send(slot: session.slot, frame.encode()))
      }
    }
    return outputs
  }
}
