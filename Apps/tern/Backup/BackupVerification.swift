import ArgumentParser
import TernCore
import TernLedger

/// Checks backups without a server or a store.
struct BackupVerification {
  let files: [String]
  let output: JSONFlag

  /// Reads every file to its end.
  ///
  /// - Throws: `ExitCode` when one of them is damaged; every file was read then.
  func run() throws {
    var isWell = true
    for path in files {
      do {
        var progress = ProgressLine()
        defer { progress.end() }
        let found = try BackupFile(path).verify { bytes in
          progress.show("checked", bytes >> 20, of: nil, unit: "MiB")
        }
        tell(path, found.header, found.summary)
      } catch let failure as Failure {
        isWell = false
        output.print(
          failure.message, ["file": .string(path), "finding": .string(failure.message)])
      }
    }
    if !isWell { throw ExitCode(Outcome.failed.rawValue) }
  }

  private func tell(_ path: String, _ header: BackupHeader, _ summary: BackupSummary) {
    let base = header.base
    let kind = base.map { "an increment to the backup of version \($0.version)" } ?? "whole"
    output.print(
      "\(path): version \(header.version), \(summary.rows) rows, \(summary.bytes) bytes, \(kind), "
        + "all well",
      [
        "file": .string(path), "version": .integer(Int64(clamping: header.version)),
        "since": base.map { .integer(Int64(clamping: $0.version)) } ?? .null,
        "milliseconds": .integer(header.time), "rows": .integer(Int64(clamping: summary.rows)),
        "bytes": .integer(Int64(clamping: summary.bytes)),
      ])
  }
}
