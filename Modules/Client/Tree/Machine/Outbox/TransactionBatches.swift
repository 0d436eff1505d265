import TernCore
import TernTreeWire

/// One conditional write on its way, for one or several transactions.
struct TransactionBatch: Sendable {
  let path: TreePath
  let node: TreeNode
  /// Of what the server must still have at `path`.
  let hash: String
  let members: [OperationID]
  /// The writer id of its number, for exactly-once.
  let stream: UInt128
  let sequence: UInt64
  /// True when other clients changed the path while it was prepared.
  let wasDisturbed: Bool
  /// True when the server may have seen it.
  var wasSent = false
}

/// The conditional writes of transactions that the server has not answered.
struct TransactionBatches: Sendable {
  /// Numbers the batches of transactions given as closures; new with every start.
  private let stream: UInt128
  private var nextSequence: UInt64 = 1
  private var lastBatch: UInt64 = 0
  private var byID: [UInt64: TransactionBatch] = [:]

  init(stream: UInt128) { self.stream = stream }

  /// Gives out the next number of the stream.
  mutating func nextNumber() -> (stream: UInt128, sequence: UInt64) {
    defer { nextSequence += 1 }
    return (stream, nextSequence)
  }

  mutating func add(_ batch: TransactionBatch) -> UInt64 {
    lastBatch += 1
    byID[lastBatch] = batch
    return lastBatch
  }

  mutating func remove(_ id: UInt64) -> TransactionBatch? { byID.removeValue(forKey: id) }

  mutating func removeAll() { byID.removeAll() }

  /// Takes back the batch of a transaction, if it has not been on any connection yet.
  ///
  /// - Returns: The transactions that were in it.
  mutating func withdraw(_ id: OperationID) -> [OperationID] {
    guard let (number, batch) = byID.first(where: { $0.value.members.contains(id) }),
      !batch.wasSent
    else { return [] }
    byID[number] = nil
    return batch.members
  }

  /// Returns the request of a batch, which the server may have seen from now on; `nil` when it is
  /// no longer wanted.
  mutating func request(for id: UInt64) -> TreeRequest? {
    guard let batch = byID[id] else { return nil }
    byID[id]?.wasSent = true
    let oldest = byID.values.lazy.filter { $0.stream == batch.stream }.map(\.sequence).min()
    let mark = WriteHeader(
      WriteIdempotencyKey(stream: batch.stream, sequence: batch.sequence),
      acknowledged: (oldest ?? batch.sequence) - 1)
    return .put(batch.path, batch.node, expectedHash: batch.hash, mark)
  }
}
