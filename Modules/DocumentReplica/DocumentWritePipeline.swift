import TernCore

/// The batches that are on their way to the server.
///
/// Source: documents reference, section 5.15.
struct DocumentWritePipeline: Sendable {
  enum Stream: Sendable {
    case closed
    /// Being opened; the server has not answered the greeting yet.
    case opening
    case open
  }

  var stream = Stream.closed
  /// Batches that were taken from the queue and have no answer, oldest first.
  private(set) var inFlight: [DocumentBatch] = []
  private var lastTaken: UInt64 = 0

  /// Takes the next batches of a queue, as far as the limit allows.
  ///
  /// - Parameter queue: What is pending, ascending by id.
  /// - Returns: What is new in flight.
  mutating func fill(from queue: [DocumentBatch], depth: Int) -> ArraySlice<DocumentBatch> {
    let count = inFlight.count
    guard count < depth, let last = queue.last, last.id > lastTaken else { return [] }
    var (low, high) = (0, queue.count)
    while low < high {
      let middle = (low + high) / 2
      if queue[middle].id <= lastTaken { low = middle + 1 } else { high = middle }
    }
    for batch in queue[low...].prefix(depth - count) {
      inFlight.append(batch)
      lastTaken = batch.id
    }
    return inFlight[count...]
  }

  /// A batch has its answer.
  mutating func remove(_ batch: UInt64) { inFlight.removeAll { $0.id == batch } }

  /// Everything has to be taken from the queue again.
  mutating func reset() {
    inFlight = []
    lastTaken = 0
  }
}
