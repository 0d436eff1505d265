public import TernStorage

/// A durable, shared, gap-free log of batches for each shard, with leases, and with a checkpoint
/// that lags behind the log.
///
/// Many nodes use one log at the same time, each through a value of its own. Safety is
/// compare-and-append: an append takes effect only behind the position and under the epoch that it
/// names, whatever the time is. Leases affect liveness alone.
///
/// The log knows bytes only. All operations on one shard take effect one after the other, in an
/// order that all nodes see. `CommitLogContract` of `TernTestKit` checks an implementation.
public protocol CommitLog: Sendable {
  /// Opens the log of a shard, creates it when there is none, and returns its state. May be called
  /// again at any time, to learn the present state.
  func open(_ shard: ShardID) async throws(CommitLogError) -> LogState

  /// Appends one batch if `position` is the newest position and `epoch` the shard's epoch. When it
  /// returns ``AppendOutcome/appended(_:)``, the batch is durable. It also counts as a renewal of
  /// the leader's lease.
  ///
  /// - Throws: ``CommitLogError/unknownOutcome`` when the batch may or may not be appended, now or
  ///   a little later: only a further append behind the same position decides it, as
  ///   ``append(_:to:after:epoch:attempts:)`` does.
  ///   ``CommitLogError/tooLarge(limit:)`` for more than ``CommitLogLimits/payloadBytes``.
  func append(
    _ draft: LogBatch.Draft, to shard: ShardID, after position: LogPosition, epoch: LogEpoch
  ) async throws(CommitLogError) -> AppendOutcome

  /// Returns the batches after `position`, oldest first and without gaps: durable ones alone. At
  /// most `limit` and at most ``CommitLogLimits/batchesPerPage``; fewer when they exceed
  /// ``CommitLogLimits/pageBytes``, but at least one when there is one.
  ///
  /// - Parameter id: The identifier of the batch at `position`, of a reader that has it: the log
  ///   may be another one by now, such as a standby that lacked the newest batches and has others
  ///   since. `nil` when it is not known.
  /// - Throws: ``CommitLogError/truncated(first:)`` when the log no longer reaches back so far, to
  ///   `position` itself if `id` is given: start from the checkpoint.
  ///   ``CommitLogError/regressed(head:)`` when `position` is past the end, or has another batch
  ///   than `id`: the log was restored. ``CommitLogError/damaged(at:)``.
  func batches(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> [LogBatch]

  /// Returns batches as ``batches(in:after:following:limit:)`` does, though perhaps fewer of them,
  /// together with the newest position: for a node that reads to the end of the log. None are
  /// returned only when `position` is that of ``LogPage/head``.
  ///
  /// The default asks for the state and then for the batches.
  func page(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> LogPage

  /// Waits until a batch after `position` can be read, the shard's epoch is another one than
  /// `epoch`, `timeout` has passed, or the task is cancelled. A hint only: read the batches, or the
  /// lease, after it.
  ///
  /// - Returns: The shard's epoch at the end of the wait; after a cancellation it may be `epoch`.
  ///   Another one says that the leader's lease was taken or given back.
  @discardableResult
  func waitForChange(
    in shard: ShardID, after position: LogPosition, under epoch: LogEpoch, timeout: Duration
  ) async throws(CommitLogError) -> LogEpoch

  /// Takes or renews a lease by compare-and-set. Repeating a request whose outcome is unknown is
  /// safe: a lease that names the requesting node is renewed, whatever the request expects.
  ///
  /// - Throws: ``CommitLogError/tooLarge(limit:)`` for names beyond ``CommitLogLimits``, or more
  ///   leases than ``CommitLogLimits/leasesPerShard``.
  func renewLease(
    _ shard: ShardID, request: LeaseRequest
  ) async throws(CommitLogError) -> LeaseOutcome

  /// Gives a lease back, so that the next node need not wait. Raises the lease's epoch, which
  /// decides appends whose outcome is unknown. Changes nothing unless `node` holds the lease.
  func releaseLease(
    _ shard: ShardID, name: LeaseName, node: String
  ) async throws(CommitLogError)

  /// Returns the leases of a shard that were ever taken, in order of their names, except for
  /// ``LeaseName/leader``, which is part of ``LogState``.
  func leases(of shard: ShardID) async throws(CommitLogError) -> [LeaseRecord]

  /// Removes the record of a lease other than the leader's, if it still has this mark.
  func removeLease(
    _ shard: ShardID, name: LeaseName, mark: LeaseMark
  ) async throws(CommitLogError)

  /// Returns rows of the checkpoint after `key`, in key order; from the first row on when it is
  /// `nil`. At most `limit` and at most ``CommitLogLimits/rowsPerPage``; fewer when they exceed
  /// ``CommitLogLimits/pageBytes``, but at least one when there is one.
  ///
  /// The checkpoint may advance between two pages. The rows of all pages, and then every batch
  /// after the **first** page's position, in order, give a state that is consistent from the
  /// **last** page's position on.
  func checkpoint(
    of shard: ShardID, after key: [UInt8]?, limit: Int
  ) async throws(CommitLogError) -> CheckpointPage

  /// Applies changes to the checkpoint's rows, in order, and moves its mark from `mark` to
  /// `position` in the same transaction; nothing when the mark or the shard's epoch is another one.
  /// With equal positions it stores a part of a checkpoint that is too large for one call: the
  /// epoch keeps parts of a leader that was deposed from lying over those of the next one.
  ///
  /// - Returns: ``CheckpointOutcome/advanced(_:)``, ``CheckpointOutcome/elsewhere(mark:)`` or
  ///   ``CheckpointOutcome/fenced(_:)``.
  ///   After ``CommitLogError/unknownOutcome`` call it again.
  /// - Throws: ``CommitLogError/tooLarge(limit:)`` for more changes than
  ///   ``CommitLogLimits/checkpointChanges`` or more bytes than
  ///   ``CommitLogLimits/checkpointBytes``; ``CommitLogError/regressed(head:)`` when `position` is
  ///   past the end of the log or before `mark`.
  func advanceCheckpoint(
    of shard: ShardID, from mark: LogPosition, to position: LogPosition, epoch: LogEpoch,
    changes: [Mutation]
  ) async throws(CommitLogError) -> CheckpointOutcome

  /// Drops batches that the checkpoint holds and that `retention` does not keep, oldest first.
  ///
  /// - Returns: The oldest position that can still be read.
  func compact(
    _ shard: ShardID, keeping retention: LogRetention
  ) async throws(CommitLogError) -> LogPosition

  /// Ends the use of the log. Operations under way and later ones fail with
  /// ``CommitLogError/closed``.
  func close() async
}
