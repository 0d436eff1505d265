public import TernCore
public import TernStorage
public import TernSync
import TernTransactions
import TernTreeReplica

/// The realtime tree, as one client has it.
public struct TreeDatabase: Sendable {
  package let session: TreeSession
  /// The places of transactions given as closures that were undecided when the last run of the
  /// program ended, and are lost with it. Declared transactions survive.
  public let lostTransactions: [TreePath]

  /// The whole tree.
  public var root: TreeReference { TreeReference(session: session, path: .root, problem: nil) }

  /// The place at a path such as `rooms/42`.
  ///
  /// A text that is no path gives a reference whose every use throws the broken rule.
  public subscript(path: String) -> TreeReference { root[path] }

  /// The place at a path.
  public subscript(path: TreePath) -> TreeReference {
    TreeReference(session: session, path: path, problem: nil)
  }
}

// MARK: - The connection

extension TreeDatabase {
  /// The state of the connection, now and whenever it changes.
  public var connection: ListenSequence<ConnectionState, Never> {
    let session = session
    return ListenSequence(newest: { box in
      let id = await session.observeConnection(box)
      return { session.submit { $0.stopObserving(id) } }
    })
  }

  /// Ends the connection, and stays without one until ``goOnline()``.
  ///
  /// The server carries out this client's deferred writes. Listeners keep what they have; writes
  /// keep working here and wait.
  public func goOffline() async { await session.goOffline() }

  /// Allows a connection again, and tries at once.
  public func goOnline() async { await session.goOnline() }

  /// Sets the credential that proves this client's identity to the server; `nil` shows none.
  public func setCredential(_ credential: String?) async {
    await session.setCredential(credential)
  }
}

// MARK: - The cache

extension TreeDatabase {
  /// The reason the cache could not be opened or last could not be stored; `nil` while it is well.
  ///
  /// The database works without it, but finds less after a restart.
  public var cacheFailure: StorageError? {
    get async { await session.machine.cacheFailure }
  }
}

// MARK: - The queue

extension TreeDatabase {
  /// The pending and rejected writes, now and whenever they change.
  public var queue: ListenSequence<TreeQueueStatus, Never> {
    let session = session
    return ListenSequence(newest: { box in
      let id = await session.observeQueue(box)
      return { session.submit { $0.stopObserving(id) } }
    })
  }

  /// The pending and rejected writes.
  public var queueStatus: TreeQueueStatus {
    get async { await session.queueStatus }
  }

  /// The writes the server has not answered, in the order they were made.
  public var pendingWrites: [PendingTreeWrite] {
    get async { Array(await session.queueStatus.pending) }
  }

  /// The writes the server rejected, oldest first.
  public var rejectedWrites: [RejectedTreeWrite] {
    get async { Array(await session.queueStatus.rejected) }
  }

  /// Waits until the server has answered everything that is pending now, whatever it answers.
  ///
  /// Does not return while the device is offline and something is pending.
  ///
  /// - Throws: ``AcknowledgementError/cancelled``, ``AcknowledgementError/closed``.
  public func waitForPendingWrites() async throws(AcknowledgementError) {
    guard let last = await session.queueStatus.pending.last?.id else { return }
    // Writes of an earlier run may be pending, and nothing else need have used the database.
    await session.use()
    for await status in queue {
      guard let first = status.pending.first?.id, first <= last else { return }
    }
    throw Task.isCancelled ? .cancelled : .closed
  }

  /// Sends a rejected write again: as it was, or another one in its place.
  ///
  /// - Returns: When the write is durable again on this device.
  /// - Throws: ``WriteError/queue(_:)`` with `QueueError.noSuchWrite(id:)` when it was
  ///   sent again or given up before.
  @discardableResult
  public func retry(
    _ rejected: RejectedTreeWrite, as edited: TreeWrite? = nil
  ) async throws(WriteError) -> TreeWriteHandle {
    do throws(TreeError) { try edited?.validateForStoring() } catch { throw .invalid(error) }
    return try await TreeWriteHandle(
      await session.retry(row: rejected.id, with: edited), of: session)
  }

  /// Gives a rejected write up.
  public func discard(_ rejected: RejectedTreeWrite) async throws(QueueError) {
    let answer = Promise<QueueResult>()
    await session.discard(row: rejected.id) { answer.resolve($0) }
    if case .failed(let error) = await answer.value() { throw error }
  }

  /// Gives up every pending write and transaction; listeners hear how their effects vanish.
  ///
  /// - Returns: The dropped writes. Some of them may still have reached the server.
  @discardableResult
  public func purgePendingWrites() async throws(QueueError) -> [TreeWrite] {
    let answer = Promise<QueueResult>()
    await session.purge { answer.resolve($0) }
    switch await answer.value() {
    case .failed(let error): throw error
    case .stored, .changed: return []
    case .purged(let rows):
      return rows.compactMap { row in
        if case .write(let write) = WriteRecord(decoding: row.payload) { write } else { nil }
      }
    }
  }
}

// MARK: - Declared transactions

extension TreeDatabase {
  /// Says what a declared transaction does, so that it can outlive the program.
  ///
  /// Declare every name right after opening: transactions of that name which an earlier run left
  /// undecided go on from here.
  public func declareTransaction(_ name: String, _ update: @escaping DeclaredUpdate) async {
    await session.declare(name, update)
  }
}
