package import TernLedger
import TernSync

extension TernServer {
  /// Begins a backup of everything that is stored; `nil` also when the server has stopped.
  package func backUp(
    on base: BackupIndex?, for request: DirectRequest, at address: String,
    tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> TreeExport? {
    if refusal != nil { return nil }
    return exports.beginBackup(
      on: base, review: request, at: address, time: ambient.millisecondsSinceEpoch(),
      storeBytes: surroundings.figures.storeBytes, tell: tell)
  }
}

/// The review of the exports under way.
enum BackupReview {
  /// Ends the exports that cost too much, and says so of backups.
  static func run(on server: isolated TernServer) {
    let ends = server.exports.reviewBounds(
      isDiskFull: server.batches.machine.diskSpace != .ample
    ) {
      server.surroundings.figures.storeBytes
    }
    for end in ends {
      server.surroundings.endedBackup = EndedBackup(
        reason: end, time: server.ambient.millisecondsSinceEpoch())
      server.report(.backupEnded(end))
    }
  }
}
