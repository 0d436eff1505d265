package import TernCore

/// The time by which one server reads documents: that of the last commit.
///
/// The clock on the wall has no part in it. A time that was told and stored nowhere would be
/// forgotten by a restart; a clock that was set back in between would then tell an earlier one,
/// and clients would ignore what they are told until it had caught up.
package struct DocumentClock: Hashable, Sendable {
  /// The time of a reading: as of then everything committed is seen, and nothing is committed at
  /// or before it any more.
  package private(set) var reading = DocumentClock.first

  /// The time of readings before the first commit.
  static let first = DocumentVersion(microseconds: 1)

  /// A clock that has told no time yet.
  package init() {}

  /// Takes note of a commit, or of the last one of the run before.
  ///
  /// The clock never goes back.
  package mutating func note(_ version: DocumentVersion) { reading = max(reading, version) }
}
