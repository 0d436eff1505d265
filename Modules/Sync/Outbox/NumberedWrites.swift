/// One user's writes that are durable in the queue and not settled: the row and the number of each.
///
/// Writes are known by ids that their owner gives them. The numbers are those of one stream,
/// for exactly-once. Rows leave the queue in the order of their numbers, because the server answers
/// in that order.
package struct NumberedWrites: Sendable {
  /// The place of a write in the queue and in the stream.
  package struct Entry: Hashable, Sendable {
    /// The row of the queue.
    package let row: UInt64
    /// The number in the stream.
    package let sequence: UInt64
  }

  private var entries: [UInt64: Entry] = [:]
  private var ids: [UInt64: UInt64] = [:]
  /// The last number whose row is known to be gone, and all before it: the server may forget their
  /// outcomes.
  package private(set) var settledThrough: UInt64
  /// The first number that was answered while its row could not be changed. It is sent again by the
  /// next run, which then needs its outcome.
  private var firstUnsettled: UInt64?

  /// - Parameter nextSequence: The number that the queue gives next.
  package init(nextSequence: UInt64) { settledThrough = nextSequence - 1 }

  /// The row and the number of a write; `nil` until it is durable.
  package subscript(id: UInt64) -> Entry? { entries[id] }

  /// Returns the write that has a number; `nil` when it is settled.
  package func id(numbered sequence: UInt64) -> UInt64? { ids[sequence] }

  /// Returns the span of the numbers up to one that have no outcome yet; `nil` when there are none.
  ///
  /// - Complexity: O(*n*).
  package func span(through last: UInt64) -> ClosedRange<UInt64>? {
    let numbers = ids.keys.filter { $0 <= last }
    guard let first = numbers.min(), let end = numbers.max() else { return nil }
    return first...end
  }

  /// Returns the writes numbered up to `last`, in the order of their numbers.
  package func writes(through last: UInt64) -> [(id: UInt64, sequence: UInt64)] {
    ids.filter { $0.key <= last }.sorted { $0.key < $1.key }.map { ($0.value, $0.key) }
  }

  /// Notes that a write is durable.
  package mutating func add(_ id: UInt64, row: UInt64, sequence: UInt64) {
    entries[id] = Entry(row: row, sequence: sequence)
    ids[sequence] = id
  }

  /// Adds a write that the queue held at its opening.
  package mutating func restore(_ id: UInt64, row: UInt64, sequence: UInt64) {
    settledThrough = min(settledThrough, sequence - 1)
    add(id, row: row, sequence: sequence)
  }

  /// Takes a write out: it has its outcome, or was given up.
  ///
  /// - Returns: Where it was; `nil` when it was not durable.
  package mutating func remove(_ id: UInt64) -> Entry? {
    guard let entry = entries.removeValue(forKey: id) else { return nil }
    ids[entry.sequence] = nil
    return entry
  }

  /// Notes that the row of an answered write is gone or holds the rejection, or could not be
  /// changed.
  package mutating func rowSettled(_ sequence: UInt64, _ result: QueueResult) {
    if case .failed(.storage) = result {
      firstUnsettled = min(firstUnsettled ?? sequence, sequence)
    } else if result == .changed, firstUnsettled == nil {
      settledThrough = max(settledThrough, sequence)
    }
  }

  /// Notes the last number of which the server holds an outcome, or one of a later write.
  ///
  /// Numbers behind it that were answered here were rejections that the server does not keep. It is
  /// told to pass over them, also when their rows are still in the queue: it has nothing to forget,
  /// and would otherwise wait for them for ever.
  ///
  /// - Complexity: O(*n*).
  package mutating func serverKnows(through last: UInt64) {
    guard let first = ids.keys.min(), first > 1, first - 1 > last else { return }
    settledThrough = max(settledThrough, first - 1)
  }

  /// Begins a stream, whose first number is 1, in place of one that was given up.
  package mutating func restart() {
    settledThrough = 0
    firstUnsettled = nil
  }
}
