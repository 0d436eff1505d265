import TernSync

/// Names batches and changes of queues, for all users of a device.
struct WriteNames: Sendable {
  private(set) var lastBatch: UInt64 = 0
  private var lastTicket: UInt64 = 0
  private var tickets: [UInt64: (user: QueueUser, about: OutboundWrites.Ticket)] = [:]

  mutating func nextBatch() -> UInt64 {
    lastBatch += 1
    return lastBatch
  }

  /// Notes a name that was given elsewhere.
  mutating func note(batch: UInt64) { lastBatch = max(lastBatch, batch) }

  /// A ticket for a change of a user's queue.
  mutating func ticket(_ about: OutboundWrites.Ticket, of user: QueueUser) -> UInt64 {
    lastTicket += 1
    tickets[lastTicket] = (user, about)
    return lastTicket
  }

  mutating func redeem(_ ticket: UInt64) -> (user: QueueUser, about: OutboundWrites.Ticket)? {
    tickets.removeValue(forKey: ticket)
  }
}
