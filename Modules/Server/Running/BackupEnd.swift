/// The reason a server ended a backup before it was whole.
public enum BackupEnd: Hashable, Sendable {
  /// The disk is full: what the backup's snapshot keeps on it is needed.
  case diskFull
  /// Its reader took nothing for so long.
  case unread(milliseconds: Int64)
  /// It took longer than this.
  case tooLong(milliseconds: Int64)
  /// The files of the store have become larger than the limit meanwhile: what is overwritten stays
  /// on the disk for as long as the backup's snapshot is held.
  case storeGrew(toBytes: Int, limitBytes: Int)
}

extension BackupEnd: CustomStringConvertible {
  public var description: String {
    switch self {
    case .diskFull: "the disk is full"
    case .unread(let milliseconds): "its reader took nothing for \(milliseconds / 1_000) s"
    case .tooLong(let milliseconds): "it took longer than \(milliseconds / 1_000) s"
    case .storeGrew(let bytes, let limit):
      "the store's files grew to \(bytes >> 20) MiB meanwhile, the limit is \(limit >> 20) MiB "
        + "(limits.backupGrowthBytes)"
    }
  }
}

/// The bounds of an export under way: its snapshot keeps what is overwritten meanwhile on the disk.
struct ExportBounds {
  let isBackup: Bool
  /// The uptime at which it has to end, in milliseconds.
  let deadline: Int64
  /// The bytes of the store's files above which it ends; `nil` when they are not known.
  var storeBytes: Int?
}

/// A backup that the server ended, as the status tells it.
struct EndedBackup: Sendable {
  var reason: BackupEnd
  /// In milliseconds since 1970.
  var time: Int64
}
