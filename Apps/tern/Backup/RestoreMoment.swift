import TernLedger

/// A moment between two backups, in the lived time that commits are dated by.
///
/// Only backups say which wall time a lived time was. Where a server stood still between two of
/// them, counting from the one and from the other leads to different lived times.
struct RestoreMoment: Equatable {
  /// The lived time counted back from the later backup: exact when the server ran from the moment
  /// until then.
  let earliest: Int64
  /// The lived time counted on from the earlier backup: exact when the server ran from then until
  /// the moment.
  let latest: Int64
  private let later: BackupHeader

  /// - Parameter time: In milliseconds since 1970.
  init(_ time: Int64, between earlier: BackupHeader, and later: BackupHeader) {
    self.later = later
    let back = later.lived - (later.time - time)
    let on = earlier.lived + (time - earlier.time)
    // After a stop the server goes on from the lived time that it had stored, which may lie before
    // that of the earlier backup; nothing was lived after the later one.
    earliest = min(max(back, 0), later.lived)
    latest = max(earliest, min(on, later.lived))
  }

  /// Returns the wall time of a lived one, in milliseconds since 1970, counted back from the later
  /// backup.
  func time(ofLived lived: Int64) -> Int64 { later.time - (later.lived - lived) }
}
