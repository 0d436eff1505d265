import TernCore
import TernSync
import TernTreeReplica

/// The writes of one user that the server has not answered, and those it rejected.
struct UserWrites: Sendable {
  /// The stream in which the durable writes are numbered.
  var client: UInt128
  /// The last number of `client` whose row is known to be gone, and all before it.
  var settledThrough: UInt64
  /// The first number of `client` that was answered while its row could not be changed.
  var firstUnsettled: UInt64?
  var writes = LocalWrites()
  var rejected = TreeWriteList<RejectedTreeWrite>()
  /// Declared transactions that wait for the user's return, by row.
  var dormant: [(row: UInt64, transaction: DeclaredTransaction)] = []
  /// Those among them that have no row yet.
  var remembering: [OperationID: DeclaredTransaction] = [:]

  /// - Parameter nextSequence: The number that the queue gives next.
  init(client: UInt128, nextSequence: UInt64) {
    self.client = client
    settledThrough = nextSequence - 1
  }

  /// The row of an answered write is gone, or holds the rejection: the server may forget it.
  ///
  /// Rows leave in the order of their numbers, because the server answers in that order. A row
  /// that the disk would not change is sent again by the next run, which then needs its outcome.
  mutating func rowSettled(_ sequence: UInt64, _ result: QueueResult) {
    if case .failed(.storage) = result {
      firstUnsettled = min(firstUnsettled ?? sequence, sequence)
    } else if result == .changed, firstUnsettled == nil {
      settledThrough = max(settledThrough, sequence)
    }
  }

  /// All of it was given up.
  ///
  /// - Returns: The writes that are gone.
  mutating func purged(_ newClient: UInt128) -> [WriteID] {
    client = newClient
    settledThrough = 0
    firstUnsettled = nil
    dormant = []
    return writes.inOrder.filter { $0.write.sequence != nil }.map(\.id)
  }
}
