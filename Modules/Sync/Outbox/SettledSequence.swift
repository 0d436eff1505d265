/// The numbers of a stream whose outcomes the server may forget.
///
/// Rows leave the queue in the order of their numbers, because the server answers in that order. A
/// row that the disk would not change is sent again by the next run, which then needs its outcome.
package struct SettledSequence: Sendable {
  /// The last number whose row is known to be gone, and all before it.
  package private(set) var through: UInt64
  /// The first number that was answered while its row could not be changed.
  private var firstUnsettled: UInt64?

  /// - Parameter nextSequence: The number that the queue gives next.
  package init(nextSequence: UInt64) { through = nextSequence - 1 }

  /// Notes that the queue held the write of a number at its opening.
  package mutating func restore(_ sequence: UInt64) { through = min(through, sequence - 1) }

  /// Notes that the row of an answered write is gone or holds the rejection, or could not be
  /// changed.
  package mutating func rowSettled(_ sequence: UInt64, _ result: QueueResult) {
    if case .failed(.storage) = result {
      firstUnsettled = min(firstUnsettled ?? sequence, sequence)
    } else if result == .changed, firstUnsettled == nil {
      through = max(through, sequence)
    }
  }
}
