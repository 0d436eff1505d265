import TernCore

/// The batches that are on their way to the server.
///
/// Source: documents reference, section 5.15.
///
/// Batches are sent in the order of the queue without waiting for answers, up to a limit. After a
/// lost stream everything without an answer is sent again in the same order; the server recognizes
/// repetitions by their numbers.
struct DocumentWritePipeline: Sendable {
  private enum Stream: Sendable {
    case closed
    /// Being opened; the server has not answered the greeting yet.
    case opening
    case open
  }

  private var stream = Stream.closed
  /// Batches that were taken from the queue and have no answer, oldest first.
  private(set) var inFlight: [DocumentBatch] = []
  /// The newest batch that was taken from the queue.
  ///
  /// Batches up to this id are in flight or answered; ids only grow.
  private var lastTaken: UInt64 = 0

  /// Sends the next batches of a queue, as far as the limit allows, or opens the stream they need.
  mutating func send(
    from queue: [DocumentBatch], depth: Int, _ effects: inout [DocumentEffect]
  ) {
    let taken = fill(from: queue, depth: depth)
    switch stream {
    case .open: for batch in taken { effects.append(.send(batch)) }
    case .opening: break
    case .closed:
      if inFlight.isEmpty { break }
      stream = .opening
      effects.append(.openWriteStream)
    }
  }

  /// Sends everything that has no answer on a stream that has just opened.
  ///
  /// - Returns: Whether it was being opened.
  mutating func noteOpened(_ effects: inout [DocumentEffect]) -> Bool {
    guard stream == .opening else { return false }
    stream = .open
    for batch in inFlight { effects.append(.send(batch)) }
    return true
  }

  /// Notes that the stream is closed.
  ///
  /// - Returns: Whether it was open.
  mutating func noteClosed() -> Bool {
    defer { stream = .closed }
    return stream == .open
  }

  /// Closes the stream; later everything is taken from the queue again.
  mutating func stop(_ effects: inout [DocumentEffect]) {
    if stream != .closed { effects.append(.closeWriteStream) }
    stream = .closed
    inFlight = []
    lastTaken = 0
  }

  /// Takes the next batches of a queue, as far as the limit allows.
  ///
  /// - Parameter queue: What is pending, ascending by id.
  /// - Returns: What is new in flight.
  private mutating func fill(from queue: [DocumentBatch], depth: Int) -> ArraySlice<DocumentBatch> {
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
}

/// The callers that wait for acknowledgements, each with its last batch.
struct DocumentWriteWaits: Sendable {
  private var waits: [(id: DocumentWaitID, batch: UInt64)] = []

  /// Adds a caller that waits for a batch and all before it.
  mutating func add(_ id: DocumentWaitID, until batch: UInt64) { waits.append((id, batch)) }

  /// Removes and returns the callers whose batches come before the first pending one.
  mutating func settle(before first: UInt64) -> [DocumentWaitID] {
    let done = waits.filter { $0.batch < first }
    waits.removeAll { $0.batch < first }
    return done.map(\.id)
  }

  /// Removes and returns all callers.
  mutating func removeAll() -> [DocumentWaitID] {
    defer { waits = [] }
    return waits.map(\.id)
  }
}
