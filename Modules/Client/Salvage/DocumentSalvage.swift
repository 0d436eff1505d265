public import TernCore
import TernDocumentReplica
public import TernStorage
public import TernSync

/// The readable contents of a client's document queue, whether it opens or not.
///
/// The sister of ``TreeSalvage``.
public struct DocumentSalvage: Sendable {
  /// The user of the queue; empty for none.
  public let user: String
  /// Batches the server has not answered, in order.
  public let pending: [SalvagedBatch]
  /// Batches the server rejected, oldest first.
  public let rejected: [RejectedDocumentBatch]
  /// Records that cannot be read or make no sense: they keep the queue closed.
  public let damaged: [DamagedRecord]
  /// Damaged records that were set aside earlier. They are kept, and keep nothing closed.
  public let setAside: [DamagedRecord]
  /// True when this client's writer id is lost. It is then unknown which of the pending batches the
  /// server has: setting aside makes them rejected ones, see
  /// `Rejection.isOutcomeUnknown`.
  public let hasLostClient: Bool

  /// True when the queue opens as it is.
  public var isWell: Bool { damaged.isEmpty && !hasLostClient }
}

/// A pending batch in the store of a queue.
public struct SalvagedBatch: Hashable, Sendable, Identifiable {
  /// The row it lies in; grows with every batch.
  public let id: UInt64
  /// The writes, in order; none where a damaged batch was set aside.
  public let mutations: [DocumentMutation]
}

extension TernDatabase {
  /// Looks at what the queue of documents in a store holds; changes nothing.
  ///
  /// For a queue that ``open(_:options:ambient:)`` finds damaged, see
  /// ``OpeningError/documentQueue(_:)``. The store must not be in use by an open database.
  ///
  /// - Parameters:
  ///   - database: The one whose documents the queue writes.
  ///   - user: The user of the queue, one of ``queueUsers(in:)``; empty for none.
  /// - Throws: `QueueError.storage(_:)`, and
  ///   `QueueError.unreadable(reason:)` for the queue of a later version or of another
  ///   database.
  public static func salvage(
    documentQueue store: any OrderedStore, of database: DocumentDatabase, user: String = ""
  ) throws(QueueError) -> DocumentSalvage {
    let found = try QueueSalvage(of: store, user: user) { DocumentBatchRecord.understands($0) }
    return try DocumentSalvage(found, of: user, database)
  }

  /// Sets the damaged records of a queue of documents aside, so that it opens with the rest in
  /// order.
  ///
  /// They are kept beside the queue, see ``DocumentSalvage/setAside``. What they asked for is given
  /// up, unless it had reached the server before; the batches behind them are sent without it, once
  /// each, as if it had never been. With the queue's own record lost, pending batches become
  /// rejected
  /// ones, to be looked at one by one: any of them may have reached the server.
  ///
  /// - Returns: What there was before. A queue that is well is not changed.
  @discardableResult
  public static func setDamagedAside(
    documentQueue store: any OrderedStore, of database: DocumentDatabase, user: String = "",
    ambient: RuntimeEnvironment = .system
  ) throws(QueueError) -> DocumentSalvage {
    let found = try salvage(documentQueue: store, of: database, user: user)
    if found.isWell { return found }
    _ = try WriteQueue.setDamagedAside(
      in: store, of: user, filler: DocumentBatchRecord.filler(in: database),
      newClient: ambient.randomID(), understands: DocumentBatchRecord.understands)
    return found
  }
}

extension DocumentSalvage {
  init(
    _ salvage: QueueSalvage, of user: String, _ database: DocumentDatabase
  ) throws(QueueError) {
    self.user = user
    var pending: [SalvagedBatch] = []
    var rejected: [RejectedDocumentBatch] = []
    for row in salvage.writes {
      let mutations = try DocumentBatchRecord.batch(in: row, id: row.id, of: database).mutations
      switch row.state {
      case .pending: pending.append(SalvagedBatch(id: row.id, mutations: mutations))
      case .rejected(let reason):
        rejected.append(RejectedDocumentBatch(id: row.id, mutations: mutations, reason: reason))
      case .kept: break
      }
    }
    self.pending = pending
    self.rejected = rejected
    damaged = salvage.damaged
    setAside = salvage.setAside
    hasLostClient = salvage.hasLostClient
  }
}
