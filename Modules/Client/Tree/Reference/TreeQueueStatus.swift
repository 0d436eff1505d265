public import TernCore
public import TernSync

/// The writes of this client that are not part of the shared tree.
public struct TreeQueueStatus: Equatable, Sendable {
  /// Those the server has not answered, in the order they were made.
  public let pending: WriteList<PendingTreeWrite>
  /// Those the server rejected, oldest first.
  public let rejected: WriteList<RejectedTreeWrite>

  package init(
    pending: WriteList<PendingTreeWrite>, rejected: WriteList<RejectedTreeWrite>
  ) {
    self.pending = pending
    self.rejected = rejected
  }
}

/// A write the server has not answered.
public struct PendingTreeWrite: Identifiable, Equatable, Sendable {
  /// Names the write as long as the database is open; grows with every write.
  public let id: UInt64
  /// As it was given, with its server values unresolved.
  public let write: TreeWrite
  /// Names it on this device, also after a restart, as ``RejectedTreeWrite/id`` does if it is
  /// rejected; `nil` until it is durable.
  public let row: UInt64?
  /// True when it is durable on this device.
  public var isDurable: Bool { row != nil }

  package init(id: UInt64, write: TreeWrite, row: UInt64?) {
    self.id = id
    self.write = write
    self.row = row
  }
}

/// A write the server rejected: it was taken back, and waits here to be looked at.
public struct RejectedTreeWrite: Identifiable, Equatable, Sendable {
  /// Names the write as long as it is kept, also after a restart.
  public let id: UInt64
  /// As it was given, with its server values unresolved.
  public let write: TreeWrite
  /// The server's reason.
  public let reason: Rejection

  package init(id: UInt64, write: TreeWrite, reason: Rejection) {
    self.id = id
    self.write = write
    self.reason = reason
  }
}
