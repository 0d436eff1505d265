import TernCommitLog
public import TernLedger

/// Finds the nodes that lead the shards of a cluster in the log that they share.
public struct LogDirectory: ShardDirectory {
  private let ledger: SharedLedger

  /// The directory of a node; `nil` when all databases belong to one shard.
  public init?(of ledger: SharedLedger) {
    if ledger.options.shards.isEmpty { return nil }
    self.ledger = ledger
  }

  public var table: ShardTable { ledger.options.shards }

  public var own: UInt32 { ledger.options.shard.number }

  public func leader(of shard: UInt32) async throws(LedgerError) -> String? {
    do throws(CommitLogError) {
      let leader = try await ledger.log.open(ShardID(shard)).leader
      return leader.flatMap { $0.address.isEmpty ? nil : $0.address }
    } catch {
      throw .unavailable(reason: error.description)
    }
  }
}
