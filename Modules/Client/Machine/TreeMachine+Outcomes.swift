import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

// Writes that reached the server while their answers did not reach this client.

extension TreeMachine {
  /// Returns true when the answer to this write is being requested on this connection.
  func awaitsOutcome(_ sequence: UInt64) -> Bool { sequence <= lastAnswered }

  /// Asks for the outcomes of pending writes that the greeting says the server already has.
  mutating func askForOutcomes() {
    let pending = book.writes.byID.values.compactMap(\.sequence).filter { $0 <= lastAnswered }
    guard let first = pending.min(), let last = pending.max() else {
      lastAnswered = 0
      return
    }
    _ = send(
      .outcomes(stream: nil, first: first, last: last),
      about: .outcomes(of: book.client, through: last))
  }

  /// The server told what became of those writes.
  mutating func outcomesAnswered(
    _ outcomes: [TreeResponse.Outcome], of stream: UInt128, through last: UInt64
  ) {
    // Those of a queue that was purged since say nothing about the writes of the next stream.
    guard stream == book.client else { return }
    lastAnswered = 0
    var known: [UInt64: TreeResponse.Outcome] = [:]
    for outcome in outcomes { known[outcome.sequence] = outcome }
    let pending = book.writes.byID.compactMap { id, local in
      local.sequence.map { (id: id, sequence: $0) }
    }
    for (id, sequence) in pending.sorted(by: { $0.sequence < $1.sequence })
    where sequence <= last {
      if let outcome = known[sequence] {
        decided(id, rejection: Rejection(outcome: outcome))
      } else {
        decided(id, rejection: .outcomeForgotten)
      }
    }
    sendReady()
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

  /// Creates the rejection of an outcome; `nil` when the write was accepted.
  init?(outcome: TreeResponse.Outcome) {
    guard outcome.status != .ok else { return nil }
    self.init(status: outcome.status.rawValue, detail: outcome.detail)
  }
}
