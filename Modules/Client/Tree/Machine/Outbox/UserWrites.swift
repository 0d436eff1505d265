import TernCore
import TernSync
import TernTreeReplica

/// The writes of one user that the server has not answered, and those it rejected.
struct UserWrites: Sendable {
  /// The stream in which the durable writes are numbered.
  private(set) var client: UInt128
  /// The writes that the server has not answered, in the order in which they were made.
  private(set) var pending = WriteList<PendingTreeWrite>()
  /// The rows and the numbers of those that are durable.
  private(set) var numbers: NumberedWrites
  var rejected = WriteList<RejectedTreeWrite>()
  /// Declared transactions of an earlier run, or of a user who is away, whose functions are not
  /// known yet; by row.
  var dormant: [(row: UInt64, transaction: DeclaredTransaction)] = []
  /// Those of a user who is away that have no row yet.
  var remembering: [OperationID: DeclaredTransaction] = [:]

  /// - Parameter nextSequence: The number that the queue gives next.
  init(client: UInt128, nextSequence: UInt64) {
    self.client = client
    numbers = NumberedWrites(nextSequence: nextSequence)
  }

  /// A pending write as the application gave it, with its server values unresolved.
  subscript(id: WriteID) -> TreeWrite? { pending[id: id.number]?.write }

  /// Adds a write that is on its way to the disk.
  mutating func add(_ write: TreeWrite, as id: WriteID) { show(write, id, row: nil) }

  /// Adds a write that the queue held at its opening.
  mutating func restore(_ write: TreeWrite, as id: WriteID, row: UInt64, sequence: UInt64) {
    numbers.restore(id.number, row: row, sequence: sequence)
    show(write, id, row: row)
  }

  /// Notes that a write is durable; does nothing when it is not pending.
  mutating func stored(_ id: WriteID, row: UInt64, sequence: UInt64) {
    guard let write = self[id] else { return }
    numbers.add(id.number, row: row, sequence: sequence)
    show(write, id, row: row)
  }

  private mutating func show(_ write: TreeWrite, _ id: WriteID, row: UInt64?) {
    pending[id: id.number] = PendingTreeWrite(id: id.number, write: write, row: row)
  }

  /// Takes a write out: it has its outcome, or was given up.
  mutating func remove(_ id: WriteID) {
    _ = numbers.remove(id.number)
    pending[id: id.number] = nil
  }

  /// Notes that the row of an answered write was changed, or not.
  mutating func rowSettled(_ sequence: UInt64, _ result: QueueResult) {
    numbers.rowSettled(sequence, result)
  }

  /// Notes the last number that the server says it has.
  mutating func serverKnows(through last: UInt64) { numbers.serverKnows(through: last) }

  /// All of it was given up.
  ///
  /// - Returns: The writes that are to be taken out.
  mutating func purged(_ newClient: UInt128) -> [WriteID] {
    client = newClient
    numbers.restart()
    dormant = []
    return pending.filter(\.isDurable).map { WriteID($0.id) }
  }
}
