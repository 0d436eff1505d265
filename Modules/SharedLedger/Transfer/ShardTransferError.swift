public import TernCommitLog
public import TernLedger

/// The reason a store was not moved into a shard, or out of one.
public enum ShardTransferError: Error, Hashable, Sendable {
  /// The log failed. After a transient error call again: what was begun is begun anew.
  case log(CommitLogError)
  /// The store failed, or holds no ledger of an embedded server.
  case ledger(LedgerError)
  /// The store holds no commit.
  case emptyStore
  /// The store that a shard is to be moved into holds something.
  case storeNotEmpty
  /// The shard holds something: its log reaches to this position. Use another shard.
  case shardNotEmpty(LogPosition)
  /// The shard holds nothing.
  case emptyShard
  /// An import into the shard was begun and did not end. Import again.
  case unfinishedImport
  /// A node holds the shard's lease and renews it. Stop all nodes of the shard.
  case inUse(by: String)
  /// The row that was read back is not the one that was written. Nothing was completed.
  case differs(key: [UInt8])
}

extension ShardTransferError: CustomStringConvertible {
  /// The failure and its remedy, for the messages of a program.
  public var description: String {
    switch self {
    case .log(let error): error.description
    case .ledger(.foreignStore): "the store is not that of a server by itself"
    case .ledger(let error): error.description
    case .emptyStore: "the store holds no commit"
    case .storeNotEmpty: "the store that the shard is to be moved into is not empty"
    case .shardNotEmpty(let position):
      "the shard is not empty, its log reaches to \(position); use another shard"
    case .emptyShard: "the shard is empty"
    case .unfinishedImport: "an import into the shard did not end; run it again"
    case .inUse(let node): "\(node) leads the shard; stop all of its nodes"
    case .differs(let key):
      "the row that begins with \(key.prefix(24)) was read back differently; nothing was completed"
    }
  }

  /// Runs an operation of the log.
  static func log<R>(
    _ body: () async throws(CommitLogError) -> R
  ) async throws(ShardTransferError) -> R {
    do throws(CommitLogError) { return try await body() } catch { throw .log(error) }
  }

  /// Runs an operation of the store.
  static func ledger<R>(
    _ body: () throws(LedgerError) -> R
  ) throws(ShardTransferError) -> R {
    do throws(LedgerError) { return try body() } catch { throw .ledger(error) }
  }

  /// Runs a step of a node.
  static func node<R>(
    _ body: () async throws(NodeError) -> R
  ) async throws(ShardTransferError) -> R {
    do throws(NodeError) { return try await body() } catch {
      switch error {
      case .log(let error): throw .log(error)
      case .ledger(let error): throw .ledger(error)
      }
    }
  }
}
