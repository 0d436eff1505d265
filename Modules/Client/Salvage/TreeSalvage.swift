public import TernCore
public import TernStorage
public import TernSync

/// The readable contents of a client's queue, whether it opens or not.
public struct TreeSalvage: Sendable {
  /// The user of the queue; empty for none.
  public let user: String
  /// Writes the server has not answered, in order, under the ids of their rows.
  public let pending: [SalvagedWrite]
  /// Writes the server rejected, oldest first.
  public let rejected: [RejectedTreeWrite]
  /// The places of transactions that are not decided.
  public let transactions: [TreePath]
  /// Records that cannot be read or make no sense: they keep the queue closed.
  public let damaged: [DamagedRecord]
  /// Damaged records that were set aside earlier. They are kept, and keep nothing closed.
  public let setAside: [DamagedRecord]
  /// True when this client's writer id is lost. It is then unknown which of the pending writes the
  /// server has: setting aside makes them rejected ones, see
  /// `Rejection.isOutcomeUnknown`.
  public let hasLostClient: Bool

  /// True when the queue opens as it is.
  public var isWell: Bool { damaged.isEmpty && !hasLostClient }
}

/// A pending write in the store of a queue.
public struct SalvagedWrite: Identifiable, Equatable, Sendable {
  /// The row it lies in; grows with every write.
  public let id: UInt64
  /// As it was given, with its server values unresolved.
  public let write: TreeWrite
}

extension TernDatabase {
  /// Looks at what the queue in a store holds; changes nothing.
  ///
  /// For a queue that ``open(_:options:ambient:)`` finds `QueueError.damaged(id:)` or
  /// `QueueError.damagedHeader`. The store must not be in use by an open database.
  ///
  /// - Parameter user: The user of the queue, one of ``queueUsers(in:)``; empty for none.
  /// - Throws: `QueueError.storage(_:)`, and `QueueError.unreadable(reason:)` for the queue of
  /// a
  ///   later version.
  public static func salvage(
    queue store: any OrderedStore, of user: String = ""
  ) throws(QueueError) -> TreeSalvage {
    let found = try QueueSalvage(of: store, user: user, understands: WriteRecord.understands)
    return TreeSalvage(found, of: user)
  }

  /// Returns the users with a queue in a store, of the tree or of documents; without the queue that
  /// has no user.
  public static func queueUsers(in store: any OrderedStore) throws(QueueError) -> [String] {
    do throws(StorageError) { return try UserQueues.users(in: store) } catch {
      throw .storage(error)
    }
  }

  /// Sets the damaged records of a queue aside, so that it opens with the rest in order.
  ///
  /// They are kept beside the queue, see ``TreeSalvage/setAside``. What they asked for is given
  /// up, unless it had reached the server before; the writes behind them are sent without it, once
  /// each, as if it had never been. With the queue's own record lost, pending writes become
  /// rejected ones, to be looked at one by one: any of them may have reached the server.
  ///
  /// - Returns: What there was before. A queue that is well is not changed.
  @discardableResult
  public static func setDamagedAside(
    queue store: any OrderedStore, of user: String = "", ambient: RuntimeEnvironment = .system
  ) throws(QueueError) -> TreeSalvage {
    let found = try WriteQueue.setDamagedAside(
      in: store, of: user, filler: WriteRecord.filler.encode(), newClient: ambient.randomID(),
      understands: WriteRecord.understands)
    return TreeSalvage(found, of: user)
  }
}

extension TreeSalvage {
  init(_ salvage: QueueSalvage, of user: String) {
    self.user = user
    var pending: [SalvagedWrite] = []
    var rejected: [RejectedTreeWrite] = []
    var transactions: [TreePath] = []
    for row in salvage.writes {
      switch (row.state, WriteRecord(decoding: row.payload)) {
      case (.pending, .write(let write)): pending.append(SalvagedWrite(id: row.id, write: write))
      case (.rejected(let reason), .write(let write)):
        rejected.append(RejectedTreeWrite(id: row.id, write: write, reason: reason))
      case (.kept, .transaction(let transaction)): transactions.append(transaction.path)
      case (.kept, .closure(let path)): transactions.append(path)
      case (.pending, _), (.rejected, _), (.kept, _): break
      }
    }
    self.pending = pending
    self.rejected = rejected
    self.transactions = transactions
    damaged = salvage.damaged
    setAside = salvage.setAside
    hasLostClient = salvage.hasLostClient
  }
}
