import TernLedger
import TernTestKit

@testable import TernSharedLedger

/// A node of a ``ClusterWorld``, over its runs.
struct WorldNode {
  var disk = FaultyDisk()
  var ledger: SharedLedger
  var faults: WorldFaults
  var name: String
  /// The time until which it stands still.
  var pausedUntil: Int64 = 0
  /// True while an operation of it is under way.
  var isBusy = false
  /// True while that is an append that takes long, and the node lives.
  var isWaiting = false
  /// The position from which on its copy is that of the log: the checkpoint was read up to there.
  var consistentFrom: UInt64 = 0
  /// The place at which its copy was compared last.
  var compared: ReplicaMark?

  /// Compares the copy with the log at the copy's place.
  mutating func compareCopy(with model: inout WorldModel) {
    let reason = ledger.standing.reason
    if reason.contains("invalid") { model.violations.append("\(name) says: \(reason)") }
    guard let copy = ledger.copy, model.violations.isEmpty else { return }
    do throws(LedgerError) {
      guard case .copy(let mark) = try EmbeddedLedger.replicaState(of: ledger.store),
        mark != compared, mark.position >= consistentFrom
      else { return }
      compared = mark
      model.summary.comparisons += 1
      model.compare(copy, of: name, at: mark)
    } catch {
      model.violations.append("\(name) cannot be read: \(error)")
    }
  }
}
