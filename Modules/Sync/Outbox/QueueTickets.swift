/// The changes of durable queues that are not answered yet, with the subject of each.
package struct QueueTickets<Subject: Sendable>: Sendable {
  private var last: UInt64 = 0
  private var unanswered: [UInt64: (user: QueueUser, about: Subject)] = [:]

  package init() {}

  /// Makes a ticket for a change of a user's queue.
  package mutating func issue(_ about: Subject, of user: QueueUser) -> UInt64 {
    last += 1
    unanswered[last] = (user, about)
    return last
  }

  /// Takes the answer to a change; `nil` for a ticket that is not known.
  package mutating func redeem(_ ticket: UInt64) -> (user: QueueUser, about: Subject)? {
    unanswered.removeValue(forKey: ticket)
  }
}
