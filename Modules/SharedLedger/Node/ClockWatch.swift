import Synchronization
import TernCommitLog

/// The difference between the clock of the log and that of a node's machine.
///
/// Nodes compare no clocks with each other; each compares its own with the one that they share. An
/// answer of the log tells the time of a moment between the question and the answer.
final class ClockWatch: Sendable {
  /// One comparison, in milliseconds.
  struct Sample: Hashable {
    /// The time of the log less that of the machine.
    var offset: Int64
    /// The most by which the offset may be wrong.
    var uncertainty: Int64
    /// The uptime of the comparison.
    var uptime: Int64

    /// A comparison of the log's time with that of the machine at the question.
    init(log: Int64, machine: Int64, asked: Int64, answered: Int64) {
      let half = (answered - asked) / 2
      (offset, uncertainty, uptime) = (log - machine - half, half + 1, answered)
    }

    /// True when both may be of clocks that have not been set between them.
    func agrees(with other: Sample) -> Bool {
      abs(offset - other.offset) <= uncertainty + other.uncertainty
    }
  }

  /// The time, in milliseconds, for which the best comparison is kept: clocks drift.
  private static let lifetime: Int64 = 60_000

  private let sample = Mutex<Sample?>(nil)

  /// The milliseconds by which the log's clock is ahead; `nil` before the first comparison.
  var offset: Int64? { sample.withLock { $0?.offset } }

  /// Notes a comparison: the one with the least uncertainty counts, unless a clock was set since.
  func note(_ next: Sample) {
    sample.withLock { sample in
      if let known = sample, next.agrees(with: known), next.uncertainty > known.uncertainty,
        next.uptime - known.uptime < Self.lifetime
      {
        return
      }
      sample = next
    }
  }

  /// Returns the state of a node's log, and compares the clocks.
  func openLog(of ledger: SharedLedger) async throws(NodeError) -> LogState {
    try await NodeError.log { () async throws(CommitLogError) in try await open(ledger) }
  }

  /// Opens a node's log, and compares the clocks.
  func open(_ ledger: SharedLedger) async throws(CommitLogError) -> LogState {
    let (asked, machine) = (ledger.uptime(), ledger.environment.time?())
    let state = try await ledger.log.open(ledger.options.shard)
    if let time = state.time, let machine {
      note(Sample(log: time, machine: machine, asked: asked, answered: ledger.uptime()))
    }
    return state
  }
}
