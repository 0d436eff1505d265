/// The reason an operation of a store failed.
public enum StorageError: Error, Hashable, Sendable {
  /// The key is longer than ``StorageLimits/keyBytes``. Use a shorter one.
  case keyTooLong(bytes: Int)
  /// The value is longer than ``StorageLimits/valueBytes``. Split it.
  case valueTooLong(bytes: Int)

  /// The record under `key` does not match its checksum. It is never returned; stop, or remove it.
  case corruptRecord(key: [UInt8])
  /// The file is damaged or is not one of ours. Stop, and restore it.
  case corruptStore(reason: String)
  /// The store was written by a later version of this library. Upgrade.
  case newerFormat(found: Int, supported: Int)

  /// Another process, or this one, has the store at `path` open. Close it there.
  case inUse(path: String)
  /// The store at `path` may not be written by this process. Check its permissions.
  case readOnly(path: String)
  /// The directory of the store cannot be made or entered; `code` is an `errno`.
  case cannotOpen(path: String, code: Int32)

  /// The disk is full; nothing was written. Removing rows still works. Free some space, retry.
  case diskFull
  /// More snapshots than `limit` at the same moment. Retry when some have ended.
  case tooManyReaders(limit: Int)

  /// A commit may or may not be durable; `code` is the backend's. The store refuses all further
  /// work: open it again and look.
  case syncFailed(code: Int32)
  /// The store refuses work since an earlier ``syncFailed(code:)``. Open it again.
  case failed
  /// The store was closed.
  case closed
  /// The body gave up on purpose: nothing was written, and the store is well.
  case abandoned

  /// Any other failure of the backend: what was being done and the backend's code.
  case backend(operation: String, code: Int32)

  /// True when stored bytes fail their check: of one record, or of a part of the store that may
  /// hold many. Reads elsewhere go on.
  public var isCorruption: Bool {
    switch self {
    case .corruptRecord, .corruptStore: true
    default: false
    }
  }
}
