public import TernStorage

/// The reason an operation of a ledger failed.
public enum LedgerError: Error, Hashable, Sendable {
  /// The store below failed. After a failed commit nothing of the batch was applied, unless the
  /// store says that it does not know.
  case storage(StorageError)
  /// The log was cut: it begins at `first`. Read the state instead.
  case truncated(first: Version)
  /// The store holds rows of something else. Choose another store.
  case foreignStore
  /// The ledger was written by a later version of this library. Upgrade.
  case newerFormat(found: Int, supported: Int)
  /// The ledger cannot be used at present, for example because another node leads. After a failed
  /// commit the batch may or may not be durable: writers ask for the outcome. Retry later.
  case unavailable(reason: String)
  /// A row of the ledger itself makes no sense. Stop, and restore the store.
  case corrupt(key: [UInt8])
}

extension LedgerError {
  /// Runs `body` and wraps what the store throws.
  static func wrapping<R>(_ body: () throws(StorageError) -> R) throws(LedgerError) -> R {
    do throws(StorageError) { return try body() } catch { throw .storage(error) }
  }
}
