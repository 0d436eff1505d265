package import TernCore

/// The time by which one server reads and commits documents; it never goes back.
///
/// What is read at a time stays what there was then: every later commit is made later.
package struct DocumentClock: Hashable, Sendable {
  private var issued: Int64 = 1

  /// A clock that has told no time yet.
  package init() {}

  /// The time of a reading: as of now everything committed is seen.
  ///
  /// - Parameter now: Wall-clock time in microseconds since 1970.
  package mutating func reading(at now: Int64) -> DocumentVersion {
    issued = max(issued, now)
    return DocumentVersion(microseconds: issued)
  }

  /// The time to decide a commit at, later than all readings.
  ///
  /// - Parameter now: Wall-clock time in microseconds since 1970.
  package mutating func committing(at now: Int64) -> Int64 {
    issued = max(issued + 1, now)
    return issued
  }

  /// Takes note of a commit, or of the last one of the run before.
  package mutating func note(_ version: DocumentVersion) {
    issued = max(issued, version.microseconds)
  }
}
