/// The limits on the calls that may wait in a client at the same moment. A call beyond fails with
/// an error that names the limit, and has no effect.
public struct WaitingLimits: Hashable, Sendable {
  /// One-time reads without an answer: ``ReadError/tooManyWaiting(limit:)``; of documents the code
  /// `resourceExhausted`. Counted apart for the tree and the documents.
  public var reads = 10_000
  /// Deferred writes the server has not confirmed: ``DisconnectError/tooManyWaiting(limit:)``.
  public var deferredWrites = 10_000
  /// Transactions that are not decided: `TransactionError.tooManyWaiting(limit:)`.
  public var transactions = 10_000
  /// Calls without a waiting caller that the session has not processed; they are ``SessionBusy``.
  public var calls = 100_000
  /// Bytes from the server that the session has not looked at. Then the link is not read from
  /// until it has; the server feels it and waits.
  public var inboxBytes = 16 * 1024 * 1024

  /// The defaults.
  public init() {}
}

/// As many calls wait for the session as may. Let it catch up, then call again.
public struct SessionBusy: Error, Hashable, Sendable {
  /// ``WaitingLimits/calls``.
  public let limit: Int
}
