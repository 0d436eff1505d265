import Logging
import Synchronization
import TernServer

/// The log of a server for its operator: a recurring failure is reported once a minute.
final class ServerNews: Sendable {
  /// The least time between two lines that say the same.
  static let pause = Duration.seconds(60)
  /// The most lines that are remembered; then all of them may be told once more.
  static let linesKept = 100

  private struct Told {
    var at: ContinuousClock.Instant
    /// The number of times it happened since without a report.
    var unsaid = 0
  }

  private let now: @Sendable () -> ContinuousClock.Instant
  private let write: @Sendable (String, Logger.Level) -> Void
  /// By the line.
  private let told = Mutex<[String: Told]>([:])

  init(
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock().now },
    write: @escaping @Sendable (String, Logger.Level) -> Void = { OperatorLog.tell($0, $1) }
  ) {
    self.now = now
    self.write = write
  }

  func take(_ event: ServerEvent) {
    switch event {
    case .connected(let peer):
      OperatorLog.tell("a client has connected", .debug, ["peer": "\(peer)"])
    case .disconnected(let peer, let reason):
      OperatorLog.tell(
        "a client is gone", .debug, ["peer": "\(peer)", "reason": "\(reason)"])
    case .failed(let error):
      tell(
        "the last writes were not acknowledged, and "
          + (event.mayHaveStored ? "some of them may be" : "none of them is")
          + " stored; all clients come back and ask: \(error)")
    case .ended(let error):
      tell("the server ends, for its store cannot be used any more: \(error)", .critical)
    case .diskFull:
      tell(
        "the disk is full: what clients write is refused until there is room, but for what "
          + "only removes; they keep it and try again. Reads and listens go on")
    // Each change counts, also when a node leads twice within the pause.
    case .standingBy(let reason): write("no client is served here: \(reason)", .notice)
    case .following: write("this node follows and serves clients", .notice)
    case .leading: write("this node leads and serves clients", .notice)
    case .hindered(let reason): tell("\(reason); the log grows until it does")
    case .corrupt(let corruption):
      tell("the store is damaged, see tern verify: \(corruption)")
    case .oldFormat: tell(Self.oldFormat, .warning)
    case .unusableRules(let database, let problem):
      tell(
        "the stored rules of \(database) are invalid under the limits of this version, and deny "
          + "everything until others are deployed: \(problem)")
    case .backupEnded(let reason):
      tell("a backup was ended before it was whole: \(reason)", .warning)
    case .diskHasRoom: tell("the disk has room again; everything is taken", .notice)
    }
  }

  /// The notice about a store that ``Compact`` brings up to date.
  static let oldFormat =
    "the store has an earlier format, whose pages have no checksums: a flipped bit may pass "
    + "unnoticed. Stop the server, and bring the store up to date: tern compact"

  private func tell(_ line: String, _ level: Logger.Level = .error) {
    let now = now()
    let unsaid: Int? = told.withLock { told in
      if let last = told[line], last.at.duration(to: now) < Self.pause {
        told[line]?.unsaid += 1
        return nil
      }
      if told.count >= Self.linesKept { told.removeAll() }
      defer { told[line] = Told(at: now) }
      return told[line]?.unsaid ?? 0
    }
    guard let unsaid else { return }
    write(
      unsaid == 0 ? line : "\(line) (and \(unsaid) times since this was last said)", level)
  }
}
