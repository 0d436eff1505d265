import TernStorage

/// Makes space of a ledger's log on a full disk.
struct LogSpace {
  let ledger: EmbeddedLedger

  /// Does work that needs space. When the disk is full, makes space of the log and tries again: of
  /// half of it first, and of all of it then.
  func cuttingLog<R>(
    of committer: inout Committer, _ work: (inout Committer) throws(LedgerError) -> R
  ) throws(LedgerError) -> R {
    for keepsHalf in [true, false] {
      do throws(LedgerError) { return try work(&committer) } catch {
        guard error == .storage(.diskFull),
          try shrinkLog(of: &committer, keepingHalf: keepsHalf)
        else { throw error }
      }
    }
    return try work(&committer)
  }

  /// Takes the space that is held back for removals.
  func takeReserve(by committer: inout Committer) throws(LedgerError) {
    try cuttingLog(of: &committer) { _ throws(LedgerError) in
      try LedgerError.wrapping { () throws(StorageError) in
        try ledger.store.write { transaction throws(StorageError) in
          try transaction.put(
            [UInt8](repeating: 0, count: LedgerLimits.reserveBytes), for: LedgerKey.reserve)
        }
      }
    }
  }

  /// Cuts the log for a full disk, in a transaction that begins with a removal, which a store makes
  /// room for.
  ///
  /// - Returns: False when there is nothing worth it, or no space even for that.
  private func shrinkLog(
    of committer: inout Committer, keepingHalf keepsHalf: Bool
  ) throws(LedgerError) -> Bool {
    let log = committer.log
    guard log.bytes >= LedgerLimits.spareLogBytes, log.first <= log.last else { return false }
    do throws(LedgerError) {
      try ledger.write(by: &committer, at: ledger.livedTime) {
        batch, transaction
          throws(StorageError) in
        try batch.shrinkLog(keepingHalf: keepsHalf, in: &transaction)
      }
    } catch {
      guard error == .storage(.diskFull) else { throw error }
      return false
    }
    return true
  }
}
