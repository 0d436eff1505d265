/// The way of one write through the server, once its writer was told the outcome.
///
/// Times are in microseconds of the server's uptime.
package struct WriteTrace: Sendable, Equatable {
  /// The data that the write is about.
  package enum Model: String, Sendable {
    case tree, documents
  }

  package var model: Model
  /// `accepted`, `rejected`, `denied`, `stale`, `repeated` or `unavailable`.
  package var outcome: String
  /// True for a request without a session, such as one over REST.
  package var isDirect: Bool
  /// The arrival of the frame or the request.
  package var received: Int64
  /// The steps of its batch.
  package var batch: BatchTimes
  /// The moment at which the answer and the pushes to listeners were handed over.
  package var told: Int64
  /// The wall-clock time at an uptime of 0, in microseconds since 1970.
  package var epoch: Int64
}

/// The times at which a batch took its steps, in microseconds of the server's uptime.
package struct BatchTimes: Sendable, Equatable {
  /// The decision about the first input began.
  package var begun: Int64 = 0
  /// Everything was decided.
  package var judged: Int64 = 0
  /// Everything was durable; `nil` when there was nothing to store.
  package var committed: Int64?
}

/// A write that a batch has decided, and where it came from.
struct TracedWrite: Sendable {
  enum Origin: Sendable {
    /// A frame of a link: the number of frames of the same link before it in the batch.
    case frame(slot: Int, ordinal: Int)
    /// A request without a session.
    case direct(ticket: UInt64)
  }

  let origin: Origin
  let model: WriteTrace.Model
  let outcome: String
}

/// Finds the writes among the inputs of a batch by what is counted while they are decided.
///
/// Inputs do not say if they are writes. The watch compares the counters before and after each
/// decision, so that tracing adds nothing to the way of a write.
struct WriteWatch {
  private let metrics: ServerMetrics
  private var tree: ServerMetrics.Writes
  private var documents: ServerMetrics.Writes
  /// The frames that were seen, by slot.
  private var frames: [Int: Int] = [:]

  init(_ metrics: ServerMetrics) {
    self.metrics = metrics
    (tree, documents) = (metrics.treeWrites, metrics.documentWrites)
  }

  /// Looks at an input that has just been decided.
  ///
  /// - Returns: `nil` when it was no write.
  mutating func look(at input: ServerInput) -> TracedWrite? {
    var origin: TracedWrite.Origin?
    if case .direct(let ticket, _) = input { origin = .direct(ticket: ticket) }
    if input.frameBytes > 0, let slot = input.slot {
      origin = .frame(slot: slot, ordinal: frames[slot, default: 0])
      frames[slot, default: 0] += 1
    }
    let found = Self.outcome(metrics.treeWrites, since: &tree).map { (WriteTrace.Model.tree, $0) }
    let other = Self.outcome(metrics.documentWrites, since: &documents)
    guard let origin, let (model, outcome) = found ?? other.map({ (.documents, $0) }) else {
      return nil
    }
    return TracedWrite(origin: origin, model: model, outcome: outcome)
  }

  private static func outcome(
    _ writes: ServerMetrics.Writes, since last: inout ServerMetrics.Writes
  ) -> String? {
    if writes == last { return nil }
    let before = exchange(&last, with: writes).outcomes
    return zip(writes.outcomes, before).first { $0.count > $1.count }?.0.name
  }
}
