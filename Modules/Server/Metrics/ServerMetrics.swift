/// The figures of a server since it started.
///
/// Plain integers on the server's executor, read when they are asked for: counting costs an
/// addition, and no other thread is touched.
/// Source: Docs/Decisions/0043-figures-without-atomics.md.
package final class ServerMetrics {
  /// The writes of one model, by their outcome.
  struct Writes: Equatable {
    var accepted = 0
    var rejected = 0
    var denied = 0
    /// Conditions that did not hold.
    var stale = 0
    /// Repetitions, which were told the outcome of the first one.
    var repeated = 0
    /// Those that were refused for the time being.
    var unavailable = 0

    var total: Int { accepted + rejected + denied + stale + repeated + unavailable }
  }

  // MARK: Decided

  var treeRequests = 0
  var documentRequests = 0
  var directRequests = 0
  var treeWrites = Writes()
  /// True while the way of each write is followed.
  var tracesWrites = false
  var documentWrites = Writes()
  var denials = 0
  var rateLimited = 0
  /// Pushes to listeners, each counted once for every recipient.
  var treeEvents = 0
  var documentEvents = 0
  /// Inputs whose decision took longer than ``slowSteps``.
  var slowRequests = 0

  /// The steps, of about a microsecond each, above which a request counts as slow.
  static let slowSteps = 100_000

  // MARK: Links

  /// Links that were opened, by their protocol.
  var connectionsOpened: [String: Int] = [:]
  var connectionsClosed = 0
  var framesIn = 0
  var bytesIn = 0
  var framesOut = 0
  var bytesOut = 0

  // MARK: Batches

  var batches = 0
  var commits = 0
  var failedBatches = 0
  /// Inputs decided together.
  var batchInputs = Histogram.sizes
  /// Commits made durable together, of batches with any.
  var batchCommits = Histogram.sizes
  /// The time to decide a batch.
  var planTime = Histogram.durations
  /// The time to store a batch with commits, its sync included.
  var storeTime = Histogram.durations
  /// The times from a request's arrival until its answer was handed over.
  var treeTime = Histogram.durations
  var documentTime = Histogram.durations
  var directTime = Histogram.durations

  package init() {}

  /// Counts the outcome of a direct request.
  func count(_ answer: DirectAnswer, to operation: DirectRequest.Operation) {
    switch operation {
    case .review, .mayWrite, .mayPush: return
    default: directRequests += 1
    }
    guard case .refused(let refusal) = answer else { return }
    switch refusal {
    case .permissionDenied, .unauthenticated: denials += 1
    case .tooMany: rateLimited += 1
    default: break
    }
  }
}

/// The times at which undecided frames of a link arrived, in order.
struct ArrivalTimes {
  private var times: [Int64] = []
  private var first = 0

  mutating func append(_ time: Int64) { times.append(time) }

  /// The time of the frame behind so many others; `nil` when there is none.
  func peek(_ offset: Int) -> Int64? {
    first + offset < times.count ? times[first + offset] : nil
  }

  /// The oldest time, removed.
  mutating func next() -> Int64? {
    guard first < times.count else { return nil }
    defer {
      first += 1
      if first == times.count {
        times.removeAll(keepingCapacity: first <= 64)
        first = 0
      }
    }
    return times[first]
  }
}
