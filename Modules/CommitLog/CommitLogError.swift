/// The reason an operation of a commit log failed.
public enum CommitLogError: Error, Hashable, Sendable {
  /// The log cannot be reached or does not work at present; nothing was changed. Retry.
  case unavailable(reason: String)
  /// The connection was lost while a change was made: it may or may not take effect, now or a
  /// little later. Find out before anything is built on it.
  case unknownOutcome
  /// The log begins at `first`. Start from the checkpoint.
  case truncated(first: LogPosition)
  /// The log ends at `head`, before the position that was named, or has another batch there: it was
  /// restored to an earlier state. What was built on later positions is void.
  case regressed(head: LogPosition)
  /// A batch, row, name or list is larger than `limit`, in bytes or elements. Split it.
  case tooLarge(limit: Int)
  /// The stored batch or checkpoint row near `position` does not match its checksum, or a batch is
  /// missing. Stop, and restore the log.
  case damaged(at: LogPosition)
  /// The log has a format of another version of this library. Upgrade the older one.
  case incompatible(version: Int)
  /// The log was never opened for this shard. Open it.
  case unknownShard
  /// The log refuses the credentials, or lacks rights. Correct the configuration.
  case denied(reason: String)
  /// The log was closed.
  case closed

  /// True when the same call may succeed later without any change of configuration or data.
  public var isTransient: Bool {
    switch self {
    case .unavailable, .unknownOutcome: true
    default: false
    }
  }
}

extension CommitLogError: CustomStringConvertible {
  /// The failure and its remedy, for the messages of a program.
  public var description: String {
    switch self {
    case .unavailable(let reason): "the log is unavailable: \(reason)"
    case .unknownOutcome: "the connection to the log was lost during a change"
    case .truncated(let first): "the log begins at \(first); start from the checkpoint"
    case .regressed(let head): "the log ends at \(head); it was restored to an earlier state"
    case .tooLarge(let limit): "the log takes no more than \(limit)"
    case .damaged(let position): "the log is damaged at \(position); restore it"
    case .incompatible(let version):
      "the log has format \(version), which this program does not know; upgrade the older one"
    case .unknownShard: "the log has no such shard"
    case .denied(let reason): "the log denies access: \(reason)"
    case .closed: "the log was closed"
    }
  }
}
