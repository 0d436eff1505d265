package import TernLedger
import TernSync

extension TernServer {
  /// Begins a backup of everything that is stored; see
  /// ``ExportTable/beginBackup(on:review:at:time:tell:)``. `nil` also when the server has stopped.
  package func backUp(
    on base: BackupIndex?, for request: DirectRequest, at address: String,
    tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> TreeExport? {
    if end != nil { return nil }
    return exports.beginBackup(
      on: base, review: request, at: address, time: ambient.millisecondsSinceEpoch(), tell: tell)
  }
}
