import TernCore
import TernSync
import TernTreeReplica

/// The writes of one user that the server has not answered, and those it rejected.
struct UserWrites: Sendable {
  /// The stream in which the durable writes are numbered.
  private(set) var client: UInt128
  /// The numbers of `client` whose outcomes are not needed any more.
  var settled: SettledSequence
  var writes = LocalWrites()
  var rejected = TreeWriteList<RejectedTreeWrite>()
  /// Declared transactions of an earlier run, or of a user who is away, whose functions are not
  /// known yet; by row.
  var dormant: [(row: UInt64, transaction: DeclaredTransaction)] = []
  /// Those of a user who is away that have no row yet.
  var remembering: [OperationID: DeclaredTransaction] = [:]

  /// - Parameter nextSequence: The number that the queue gives next.
  init(client: UInt128, nextSequence: UInt64) {
    self.client = client
    settled = SettledSequence(nextSequence: nextSequence)
  }

  /// All of it was given up.
  ///
  /// - Returns: The writes that are gone.
  mutating func purged(_ newClient: UInt128) -> [WriteID] {
    client = newClient
    settled = SettledSequence(nextSequence: 1)
    dormant = []
    return writes.inOrder.filter { $0.write.sequence != nil }.map(\.id)
  }
}
