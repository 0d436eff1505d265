/// The rules of a server: for all databases, or for each of its own.
///
/// A database without rules is closed to all but administrators.
///
/// A database with an entry of its own does not fall back to the common rules.
public struct DocumentRulesSet: Sendable {
  /// The rules of databases without rules of their own.
  public let common: DocumentRules?
  /// The rules of single databases, by their ids.
  public let byDatabase: [String: DocumentRules]
  /// Checksums of the sources, which ids of denials are made from.
  private let fingerprints: [String: UInt64]
  private let commonFingerprint: UInt64

  /// Gathers rules.
  public init(common: DocumentRules?, byDatabase: [String: DocumentRules] = [:]) {
    self.common = common
    self.byDatabase = byDatabase
    fingerprints = byDatabase.mapValues { Fingerprint.of($0.source) }
    commonFingerprint = Fingerprint.of(common?.source ?? [])
  }

  /// Returns the rules with a count of the results of their expressions.
  func recordingCoverage() -> DocumentRulesSet {
    DocumentRulesSet(
      common: common?.recordingCoverage(),
      byDatabase: byDatabase.mapValues { $0.recordingCoverage() })
  }

  /// The rules of a database, with a number that tells them from others.
  func rules(of databaseID: String) -> (rules: DocumentRules?, fingerprint: UInt64) {
    guard let rules = byDatabase[databaseID], let fingerprint = fingerprints[databaseID] else {
      return (common, commonFingerprint)
    }
    return (rules, fingerprint)
  }
}
