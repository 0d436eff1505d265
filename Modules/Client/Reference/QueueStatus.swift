public import TernCore
public import TernSync

/// The writes of this client that are not part of the shared tree.
public struct QueueStatus: Equatable, Sendable {
  /// Those the server has not answered, in the order they were made.
  public let pending: [PendingTreeWrite]
  /// Those the server refused, oldest first.
  public let rejected: [RejectedTreeWrite]

  package init(pending: [PendingTreeWrite], rejected: [RejectedTreeWrite]) {
    self.pending = pending
    self.rejected = rejected
  }
}

/// A write the server has not answered.
public struct PendingTreeWrite: Identifiable, Equatable, Sendable {
  public let id: UInt64
  public let write: TreeWrite
  /// Whether it is durable on this device.
  public let isDurable: Bool

  package init(id: UInt64, write: TreeWrite, isDurable: Bool) {
    self.id = id
    self.write = write
    self.isDurable = isDurable
  }
}

/// A write the server refused: it was taken back, and waits here to be looked at.
public struct RejectedTreeWrite: Identifiable, Equatable, Sendable {
  public let id: UInt64
  public let write: TreeWrite
  public let reason: Rejection

  package init(id: UInt64, write: TreeWrite, reason: Rejection) {
    self.id = id
    self.write = write
    self.reason = reason
  }
}
