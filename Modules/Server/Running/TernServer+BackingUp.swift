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
    let limits = options.limits
    guard end == nil, let source = ledger as? any BackupSource,
      exports.values.count(where: \.isBackup) < limits.backups,
      exports.count < limits.exports || freePlace(for: address)
    else { return nil }
    let export = TreeExport(uptime: uptime)
    nextTicket += 1
    let number = nextTicket
    let now = ambient.millisecondsSinceEpoch()
    let task = Task(executorPreference: ExportQueue()) {
      export.tell(source, on: base, at: now, tell)
      export.close()
      await self.forget(export: number)
    }
    exports[number] = OpenExport(
      export: export, task: task, address: address, review: request,
      deadline: uptime() + limits.backupMilliseconds)
    // Waits as an export does: the moment of the backup is this one.
    export.waitUntilOpen()
    return export
  }

  /// Ends the backups that cost too much.
  func reviewBackups() {
    let stall = options.limits.backupStallMilliseconds
    for open in exports.values where open.isBackup {
      open.review(now: uptime(), stall: stall, isDiskFull: machine.diskSpace != .ample)
    }
  }
}
