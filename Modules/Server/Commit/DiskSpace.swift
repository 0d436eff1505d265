import TernCore
import TernTreeWire

/// The state of the disk. Source: Docs/ARCHITECTURE.md, "A full disk".
package enum DiskSpace: Sendable {
  /// Everything.
  case ample
  /// The disk is full: what only removes, from what is held back for that.
  case removals
  /// The disk is full, and so is what was held back.
  case none
}

// A full disk: what clients write is rejected before anything is decided about it, as something to
// try again later; sessions, reads and listens go on.
extension DiskSpace {
  /// Returns true when a write may be decided about now.
  func allows(_ write: TreeWrite) -> Bool {
    switch self {
    case .ample: true
    case .removals: write.assignments.allSatisfy { $0.node.isEmpty }
    case .none: false
    }
  }

  /// Returns true when writes of documents may be decided about now.
  func allows(_ writes: [DocumentMutation]) -> Bool {
    switch self {
    case .ample: true
    case .removals: writes.allSatisfy { $0.change == .delete }
    case .none: false
    }
  }

  /// Returns true when a direct request may be decided about now.
  func allows(_ operation: DirectRequest.Operation) -> Bool {
    switch operation {
    case .write(let write, _): allows(write)
    case .push, .setRules(_, isTrial: false), .setDocumentRules(_, isTrial: false), .set, .revoke:
      self == .ample
    case .removeDatabase, .removeDocumentRules: self != .none
    case .administer: true
    case .read, .readOrExport, .review, .mayWrite, .mayPush, .names, .readRules,
      .setRules(_, isTrial: true), .setDocumentRules(_, isTrial: true), .readRuleCoverage,
      .readSetting, .databases, .readRevocations, .rules:
      true
    }
  }
}
