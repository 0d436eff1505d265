public import TernSync

/// The reason a transaction ended without being committed.
public enum TransactionError: Error, Hashable, Sendable {
  /// Other writers were faster each time. Try again later, or use a server value.
  case tooManyAttempts(limit: Int)
  /// A write of this client to the same data replaced it.
  case overridden
  /// The waiting writes were purged, or the database was closed. Also when the waiting task was
  /// cancelled: then the transaction goes on, and may still be committed.
  case cancelled
  /// The queue could not remember it, and it was not committed. See the error for what to do.
  case notStored(QueueError)
  /// As many transactions wait as this client may have. Wait for some to be decided.
  case tooManyWaiting(limit: Int)
  /// The server refused it.
  case rejected(Rejection)
  /// The transaction was given as a closure, and the program ended before it was committed.
  case closureLost(id: UInt64)
  /// No transaction with this name was declared in this program.
  case undeclared(name: String)
  /// The update function made something the tree cannot hold; the text says why.
  case invalidResult(String)
}
