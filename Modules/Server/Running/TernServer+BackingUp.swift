package import TernLedger
import TernSync

extension TernServer {
  /// Begins to tell everything that is stored, as it is now, in the form of a backup.
  ///
  /// It reads on a thread of its own, as an export does, and holds one snapshot of the store. It
  /// ends without an end when its reader takes nothing for too long, when it lasts too long, and
  /// when the disk is full: what it keeps on the disk is needed then.
  ///
  /// - Parameters:
  ///   - base: The backup that this one is to be an increment of.
  ///   - request: An administrator's, by ``DirectRequest/Operation/backUp``; asked again whenever
  ///     the clock ticks.
  ///   - address: Where the reader is, without a port.
  ///   - tell: Called with the pieces, on a thread of the backup's own.
  /// - Returns: `nil` when too many are under way, the ledger has no rows of its own, or the server
  ///   has stopped.
  package func backUp(
    on base: BackupIndex?, for request: DirectRequest, at address: String,
    tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> TreeExport? {
    if end != nil { return nil }
    return exports.beginBackup(
      on: base, review: request, at: address, time: ambient.millisecondsSinceEpoch(), tell: tell)
  }
}
