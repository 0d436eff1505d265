/// The sizes a commit log keeps to.
public enum CommitLogLimits {
  /// The most bytes of one batch's payload: 16 MiB.
  public static let payloadBytes = 16 << 20
  /// The most batches of one page.
  public static let batchesPerPage = 4_096
  /// The most rows of one page of a checkpoint.
  public static let rowsPerPage = 16_384
  /// The bytes of payloads, keys and values at which a page ends: 4 MiB. The first batch or row may
  /// exceed them alone.
  public static let pageBytes = 4 << 20
  /// The most changes of one advance of a checkpoint.
  public static let checkpointChanges = 65_536
  /// The most bytes of the keys and values of one advance of a checkpoint: 64 MiB.
  public static let checkpointBytes = 64 << 20
  /// The most leases of one shard beside the leader's.
  public static let leasesPerShard = 1_024
  /// The most bytes of a lease's name.
  public static let leaseNameBytes = 128
  /// The most bytes of a node's identifier.
  public static let nodeBytes = 128
  /// The most bytes of a node's address.
  public static let addressBytes = 512
  /// The batches that one transaction of a compaction drops.
  public static let batchesPerCut = 4_096
}

extension CommitLogLimits {
  /// Checks the size of a batch.
  ///
  /// - Throws: ``CommitLogError/tooLarge(limit:)``.
  public static func check(_ draft: LogBatch.Draft) throws(CommitLogError) {
    guard draft.payload.count <= payloadBytes else { throw .tooLarge(limit: payloadBytes) }
  }

  /// Checks the lengths of the names of a request for a lease.
  ///
  /// - Throws: ``CommitLogError/tooLarge(limit:)``.
  public static func check(_ request: LeaseRequest) throws(CommitLogError) {
    guard request.name.text.utf8.count <= leaseNameBytes else {
      throw .tooLarge(limit: leaseNameBytes)
    }
    guard request.node.utf8.count <= nodeBytes else { throw .tooLarge(limit: nodeBytes) }
    guard request.address.utf8.count <= addressBytes else { throw .tooLarge(limit: addressBytes) }
  }
}
