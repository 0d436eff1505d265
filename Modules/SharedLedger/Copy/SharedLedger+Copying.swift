import Synchronization
import TernCommitLog
import TernLedger
import TernStorage

// A node's copy of a shard: checked against the log at a start, and built from the checkpoint when
// it is of no use.

extension SharedLedger {
  private var loader: CopyLoader {
    CopyLoader(
      log: log, shard: options.shard, store: store, rowsPerPage: options.rowsPerPage,
      plantedFault: options.plantedFault)
  }

  /// Opens the copy if the log goes on where it ends, and builds one from the checkpoint otherwise.
  func prepareCopy() async throws(NodeError) {
    await turn.take()
    defer { turn.give() }
    let found = try await clocks.openLog(of: self)
    copy = nil
    assembler = BatchAssembler()
    let mark: ReplicaMark
    if let kept = try await usableMark(found) {
      mark = kept
    } else {
      mark = try await loader.load { count in
        state.withLock { $0.note("the node copies the checkpoint: \(count) rows") }
      }
    }
    try NodeError.ledger { () throws(LedgerError) in
      copy = try EmbeddedLedger(store: store, options: options.ledger, uptime: environment.uptime)
    }
    state.withLock { $0.begin(at: mark) }
    changes.resumeAll()
  }

  /// The place of the copy in the store, if the log holds the same batch there.
  private func usableMark(_ found: LogState) async throws(NodeError) -> ReplicaMark? {
    let kept = try NodeError.ledger { () throws(LedgerError) in
      try EmbeddedLedger.replicaState(of: store)
    }
    switch kept {
    case .foreign: throw .ledger(.foreignStore)
    case .empty, .partial: return nil
    case .copy(let mark):
      if state.withLock({ $0.isCopyVoid }) || mark.position > found.position.number { return nil }
      if mark.position == 0 { return found.oldest.number <= 1 ? mark : nil }
      let id = try await loader.batchID(at: LogPosition(mark.position))
      return id != nil && id == mark.id ? mark : nil
    }
  }
}
