public import TernStorage

/// The reason an operation of the write queue failed. Nothing was changed when it is thrown.
public enum QueueError: Error, Hashable, Sendable {
  /// As many writes wait as ``QueueLimits/writeCount`` allows. Wait for some to be sent.
  case queueFull(limitWrites: Int)
  /// The waiting writes take ``QueueLimits/bytes`` together. Wait for some to be sent.
  case queueBytesFull(limitBytes: Int)
  /// One write is larger than a queue record may be. Split it.
  case writeTooLarge(bytes: Int, limitBytes: Int)
  /// As many users have writes waiting as ``QueueLimits/userCount`` allows; another one's cannot be
  /// kept. Let one of them sign in again and send theirs, or give them up.
  case tooManyUsers(limit: Int)
  /// The user's name is longer than a queue can be named after: ``QueueLimits/userBytes``.
  case userTooLong(bytes: Int, limitBytes: Int)
  /// No write with this id is in the queue, or it is not in the state the request needs.
  case noSuchWrite(id: UInt64)
  /// The record of the write with this id is damaged. The queue refuses to open, so that no later
  /// write overtakes the lost one. Restore the store, or see what it still holds with
  /// `TernDatabase.salvage(queue:)`, for documents `TernDatabase.salvage(documentQueue:of:)`, and
  /// go on without the
  /// damaged records.
  case damaged(id: UInt64)
  /// The queue's own bookkeeping record is damaged. The queue can be salvaged, like damaged
  /// records.
  case damagedHeader
  /// The queue was written by a later version of this library, or for something else: the reason
  /// says which. Upgrade, or name the right store.
  case unreadable(reason: String)
  /// The store failed. See its error for what to do.
  case storage(StorageError)
}

/// The most a write queue holds. Every user of a device has a queue of their own.
public struct QueueLimits: Hashable, Sendable {
  /// Writes, pending and rejected together.
  public var writeCount: Int
  /// Bytes of their records together.
  public var bytes: Int
  /// The users who may have a queue in one store, not counting the queue without a user. A queue
  /// without pending writes makes room for another one.
  public var userCount: Int

  /// The longest name of a user, in bytes of UTF-8.
  public static let userBytes = 1_024

  /// By default 100,000 writes and 256 MiB, for each of 100 users.
  public init(
    writeCount: Int = 100_000, bytes: Int = 256 * 1024 * 1024, userCount: Int = 100
  ) {
    self.writeCount = writeCount
    self.bytes = bytes
    self.userCount = userCount
  }
}

/// The server's reason for the rejection of a write.
public struct Rejection: Error, Hashable, Sendable {
  /// The server's status word, such as `permission_denied`.
  public var status: String
  /// The server's text, possibly empty.
  public var detail: String

  /// Names a refusal by its status and its text.
  public init(status: String, detail: String) {
    self.status = status
    self.detail = detail
  }

  /// The status of a write that was sent, and of which the server no longer knows what became:
  /// it was applied, or refused, or never arrived. The words are this client's, not the server's.
  public static let unknownOutcome = "outcome_unknown"

  /// True when the outcome of the write is unknown. Read the tree before retrying it.
  public var isOutcomeUnknown: Bool { status == Self.unknownOutcome }
}
