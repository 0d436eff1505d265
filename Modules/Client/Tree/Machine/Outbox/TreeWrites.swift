import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

/// The writes of the device's users, and the changes of their durable queues.
///
/// Each user's writes are queued and numbered apart, shown to that user alone, and sent with no
/// other credential. Source: Docs/Decisions/0018.
struct TreeWrites: Sendable {
  var users: PerUser<UserWrites>
  private var tickets = QueueTickets<TreeTicket>()
  /// The last number the greeting says the server has, while the outcomes up to it are unknown.
  private var lastAnswered: UInt64 = 0
  /// True when the outcomes of earlier writes were requested on this connection.
  private var hasAskedForOutcomes = false

  init(_ user: QueueUser, _ writes: UserWrites) { users = PerUser(user, writes) }

  /// The user of this device.
  var user: QueueUser { users.user }

  /// The stream in which the present user's writes are numbered.
  var client: UInt128 { users.present.client }

  /// Returns a pending write of the present user.
  func write(_ id: WriteID) -> TreeWrite? { users.present[id] }
}

// MARK: - The durable queue

extension TreeWrites {
  /// Hands a change to the queue of a user; by default to that of the present user.
  mutating func change(
    _ change: QueueChange, about: TreeTicket, of owner: QueueUser? = nil,
    _ channel: inout TreeChannel
  ) {
    let owner = owner ?? user
    let ticket = tickets.issue(about, of: owner)
    channel.emit(.change(change, ticket: ticket, of: owner))
  }

  /// Takes the answer to a change; `nil` for a ticket that is not known.
  mutating func redeem(_ ticket: UInt64) -> (user: QueueUser, about: TreeTicket)? {
    tickets.redeem(ticket)
  }

  /// A write was made durable, or not, after its user has gone.
  mutating func storedAway(
    _ id: WriteID, of owner: QueueUser, _ result: QueueResult, _ channel: inout TreeChannel
  ) {
    switch result {
    case .stored(let row, let sequence):
      users.update(of: owner) { $0.stored(id, row: row, sequence: sequence) }
      channel.emit(.stored(id))
    case .failed(let error):
      users.update(of: owner) { $0.remove(id) }
      channel.emit(.notStored(id, error))
    case .changed, .purged:
      break
    }
  }

  /// The queue of a user was purged after its user has gone.
  mutating func purgedAway(
    _ newClient: UInt128, of owner: QueueUser, _ channel: inout TreeChannel
  ) {
    var gone: [WriteID] = []
    users.update(of: owner) { away in
      gone = away.purged(newClient)
      for id in gone { away.remove(id) }
    }
    for id in gone { channel.emit(.settled(id, .purged)) }
  }

  /// The present user's queue was purged.
  ///
  /// - Returns: The writes that are gone.
  mutating func purged(_ newClient: UInt128) -> [WriteID] {
    lastAnswered = 0
    return users.present.purged(newClient)
  }
}

// MARK: - Declared transactions that wait for their function or their user

extension TreeWrites {
  /// Takes out the present user's dormant transactions of a name.
  mutating func takeDormant(
    named name: String
  ) -> [(row: UInt64, transaction: DeclaredTransaction)] {
    let woken = users.present.dormant.filter { $0.transaction.name == name }
    users.present.dormant.removeAll { $0.transaction.name == name }
    return woken
  }

  /// Takes out a declared transaction that ended here because its user has gone, before it had a
  /// row; `nil` when it is none.
  mutating func takeRemembered(
    _ id: OperationID, of owner: QueueUser
  ) -> DeclaredTransaction? {
    var found: DeclaredTransaction?
    users.update(of: owner) { found = $0.remembering.removeValue(forKey: id) }
    return found
  }
}

// MARK: - Sending

extension TreeWrites {
  /// The answer to whether a write can be sent.
  enum Readiness {
    /// The write is no longer wanted.
    case gone
    /// It is not durable, or its outcome is being requested.
    case waits
    case ready(TreeRequest)
  }

  /// Returns the request of a write.
  ///
  /// - Parameter announced: The stream that the greeting on this connection named.
  func request(for id: WriteID, announced: UInt128?) -> Readiness {
    guard let write = write(id) else { return .gone }
    guard let sequence = users.present.numbers[id.number]?.sequence, sequence > lastAnswered else {
      return .waits
    }
    let stamp = WriteIdempotencyKey(
      stream: announced == client ? nil : client, sequence: sequence)
    let mark = WriteHeader(stamp, acknowledged: users.present.numbers.settledThrough)
    switch write {
    case .set(let path, let node): return .ready(.put(path, node, expectedHash: nil, mark))
    case .merge(let path, let merge): return .ready(.merge(path, merge, mark))
    }
  }

  /// The present user's writes are no longer in sight: another user takes over.
  mutating func hidden() { lastAnswered = 0 }
}

// MARK: - Outcomes of writes whose answers were lost

extension TreeWrites {
  /// The server greeted, with the last number it has.
  mutating func greeted(_ last: UInt64?, announced: UInt128?) {
    lastAnswered = announced == client ? last ?? 0 : 0
    if announced == client, let last { users.present.serverKnows(through: last) }
  }

  /// Asks for the outcomes of pending writes that the greeting says the server already has, once on
  /// each connection.
  mutating func askForOutcomes(_ channel: inout TreeChannel) {
    guard !hasAskedForOutcomes else { return }
    hasAskedForOutcomes = true
    guard let span = users.present.numbers.span(through: lastAnswered) else {
      lastAnswered = 0
      return
    }
    channel.send(
      .outcomes(stream: nil, first: span.lowerBound, last: span.upperBound),
      about: .outcomes(of: client, through: span.upperBound))
  }

  /// The server told what became of those writes.
  ///
  /// - Returns: The verdicts, in the order of the numbers.
  mutating func outcomesAnswered(
    _ outcomes: [TreeResponse.Outcome], of stream: UInt128, through last: UInt64
  ) -> [(id: WriteID, rejection: Rejection?)] {
    // Those of a queue that was purged since say nothing about the writes of the next stream.
    guard stream == client else { return [] }
    lastAnswered = 0
    var known: [UInt64: TreeResponse.Outcome] = [:]
    for outcome in outcomes { known[outcome.sequence] = outcome }
    return users.present.numbers.writes(through: last).map { id, sequence in
      guard let outcome = known[sequence] else { return (WriteID(id), .outcomeForgotten) }
      return (WriteID(id), Rejection(outcome: outcome))
    }
  }

  /// The connection is lost: the next greeting says anew what the server has.
  mutating func disconnected() {
    hasAskedForOutcomes = false
    lastAnswered = 0
  }
}

extension Rejection {
  /// The server has the write's number, and no longer knows what it made of it.
  ///
  /// It keeps at least twice as many outcomes as a client has writes on their way, so this takes
  /// more than a lost connection: a row that the disk would not change, and thousands of writes
  /// after it; or a server that was set back. To call the write accepted would be a guess.
  static let outcomeForgotten = Rejection(
    status: unknownOutcome,
    detail: "The server no longer knows what became of this write.")

  /// The rejection of requests that were not passed on, because another user signed in first. The
  /// text is this client's, not the server's.
  static let userChanged = Rejection(
    status: "user_changed", detail: "Another user has signed in.")

  /// Creates the rejection of an outcome; `nil` when the write was accepted.
  init?(outcome: TreeResponse.Outcome) {
    guard outcome.status != .ok else { return nil }
    self.init(status: outcome.status.rawValue, detail: outcome.detail)
  }
}
