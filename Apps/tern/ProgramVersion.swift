import CBuildInfo
import TernLedger

/// The text of `tern --version`.
enum ProgramVersion {
  static let number = "0.1.0"

  /// The commit that the program was built from; `nil` when the build was not told.
  static var commit: String? {
    let text = unsafe String(cString: tern_build_commit())
    return text.isEmpty ? nil : text
  }

  /// The version, the commit, and the formats that are written: of stores, and of the protocols.
  static var text: String {
    """
    tern \(number)
    commit: \(commit ?? "unknown")
    formats: ledger \(EmbeddedLedger.format), tree protocol 5, Firestore v1
    """
  }
}
