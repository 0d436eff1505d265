import Dispatch
import Synchronization
package import TernLedger
import TernStorage

/// One state of a part of a tree, sent piece by piece at its reader's pace.
///
/// It reads on a thread of its own, no further ahead than its taker allows, and holds one snapshot
/// of the store for as long as that takes.
package final class TreeExport: Sendable {
  /// The events for the taker, in order, on the export's own thread.
  package enum Event: Sendable {
    /// The next bytes.
    case piece([UInt8])
    /// That was all.
    case end
    /// There will be no more, and it was not all.
    case failed(LedgerError)
    /// There will be no more, and it was not all: another node refuses the data.
    case refused(DirectRefusal)
    /// The right to read was lost before the end.
    case withdrawn
  }

  /// The approximate size of a piece, in bytes.
  package static let pieceBytes = 64 << 10
  /// The limit on bytes under way: the output of a socket while the next piece is made.
  package static let aheadBytes = 256 << 10

  private struct State {
    /// Bytes that may be told before anything is taken; may go below zero by one piece.
    var credit = TreeExport.aheadBytes
    var isCancelled = false
    var isWithdrawn = false
    var version: Version = 0
    /// The time at which the reader last took a piece, in milliseconds of the uptime.
    var takenAt: Int64
  }

  private let state: Mutex<State>
  private let uptime: @Sendable () -> Int64
  private let news = DispatchSemaphore(value: 0)
  private let opened = DispatchSemaphore(value: 0)
  private let whenChanged: @Sendable () -> Void

  /// - Parameters:
  ///   - uptime: Milliseconds on a clock that never jumps.
  ///   - whenChanged: Called when the taker has done with something, or wants nothing more.
  init(
    uptime: @escaping @Sendable () -> Int64, whenChanged: @escaping @Sendable () -> Void = {}
  ) {
    self.uptime = uptime
    self.whenChanged = whenChanged
    state = Mutex(State(takenAt: uptime()))
  }

  /// The time without progress while output is pending, in milliseconds; 0 while the reading goes
  /// on.
  var stalledMilliseconds: Int64 {
    let now = uptime()
    return state.withLock { $0.credit > 0 ? 0 : max(0, now - $0.takenAt) }
  }

  /// The last commit that can be seen in what is told.
  package var version: Version { state.withLock { $0.version } }

  /// Bytes that were told and that the taker has not done with.
  var untakenBytes: Int { Self.aheadBytes - state.withLock { $0.credit } }

  /// The taker has done with so many bytes.
  package func take(_ bytes: Int) {
    let now = uptime()
    state.withLock { ($0.credit, $0.takenAt) = ($0.credit + bytes, now) }
    news.signal()
    whenChanged()
  }

  /// Cancels the export: no further event follows.
  package func cancel() {
    state.withLock { $0.isCancelled = true }
    news.signal()
    whenChanged()
  }

  /// True after a cancellation.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// True while more may be told.
  var hasCredit: Bool { state.withLock { $0.credit > 0 } }

  /// Counts bytes that are told although there may be no credit for them.
  ///
  /// A reader whose data come late has not stalled before: its time begins with the last of them
  /// that it may be told.
  func spend(_ bytes: Int) {
    let now = uptime()
    state.withLock { state in
      let hadCredit = state.credit > 0
      state.credit -= bytes
      if hadCredit, state.credit <= 0 { state.takenAt = now }
    }
  }

  /// Nothing further is told, and the taker hears that.
  func withdraw() {
    state.withLock { ($0.isCancelled, $0.isWithdrawn) = (true, true) }
    news.signal()
  }

  /// True when it was withdrawn before its end.
  var isWithdrawn: Bool { state.withLock { $0.isWithdrawn } }

  /// Waits until the snapshot is open, or cannot be opened. Blocks.
  func waitUntilOpen() { opened.wait() }

  /// The snapshot is open.
  func open(at version: Version) {
    state.withLock { $0.version = version }
    opened.signal()
  }

  /// The reading is over.
  func close() { opened.signal() }

  /// Waits until more may be sent; `false` after a cancellation. Blocks.
  func waitForCredit(spending bytes: Int) -> Bool {
    while true {
      let mayGo: Bool? = state.withLock { state in
        if state.isCancelled { return false }
        guard state.credit > 0 else { return nil }
        state.credit -= bytes
        return true
      }
      if let mayGo { return mayGo }
      news.wait()
    }
  }
}

/// Runs what is given to it on a queue, and so on a thread, of its own.
final class ExportQueue: TaskExecutor {
  private let queue = DispatchQueue(label: "tern.export")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}
