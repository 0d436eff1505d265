import CSQLite
import CSQLitePages
import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Notes beside the log how far it was once whole: SQLite takes a corrupt frame for the end of the
/// log, and without a witness all commits behind it would vanish in silence.
///
/// Each commit is noted once it is durable, without a sync of its own: a note is never ahead of the
/// log. Format and proof: Docs/Formats/storage-sqlite.md.
final class SQLiteWitness: Sendable {
  static let file = "witness"

  private let witness: Witness
  private let pageBytes: Int
  // The running system, for notes about commits that were not synced; 0 for synced ones.
  private let boot: UInt64

  /// The witness in `directory`; `nil` when nothing may be noted.
  init?(_ directory: StoreDirectory, _ durability: Durability, pageBytes: Int) {
    boot = durability == .durable ? 0 : Self.runningSystem
    if durability == .relaxed, boot == 0 { return nil }
    witness = Witness(path: directory.file(Self.file))
    self.pageBytes = pageBytes
  }

  /// Notes that the log of a connection holds whole commits in its first `frames` frames.
  func note(_ handle: OpaquePointer?, _ frames: Int32) {
    var note = LogNote(end: 32 + UInt64(max(0, frames)) * UInt64(24 + pageBytes), boot: boot)
    // Safe: both numbers live through the call, which keeps no pointer.
    guard unsafe tern_log_salts(handle, &note.firstSalt, &note.secondSalt) == 0 else { return }
    witness.write(note.payload)
  }

  /// Registers the file systems of checked pages. Before SQLite removes a log that it has moved
  /// into the database, the witness of the log is told.
  static func register() -> Int32 {
    unsafe tern_pages_register { folder in
      guard let folder = unsafe folder else { return -1 }
      return SQLiteWitness.noteMoved(at: unsafe String(cString: folder) + SQLiteWitness.file)
        ? 0 : -1
    }
  }

  /// Notes durably that the log may be cut off or removed; `false` when that is not possible.
  static func noteMoved(in directory: StoreDirectory) -> Bool {
    noteMoved(at: directory.file(file))
  }

  private static func noteMoved(at path: String) -> Bool {
    let witness = Witness(path: path)
    // One that is missing or corrupt proves nothing, and stays so.
    guard var note = witness.read().flatMap(LogNote.init), !note.isMoved else { return true }
    note.isMoved = true
    witness.write(note.payload)
    return witness.sync() && witness.read() == note.payload
  }

  /// The log of which commits cannot be read, as recovery found it.
  static let quarantine = "rows.sqlite-wal.corrupt"

  /// Keeps a corrupt log in another file, and lets SQLite go on with what is whole of it.
  static func quarantineLog(in directory: StoreDirectory) throws(StorageError) {
    try directory.copy(SQLiteFormat.file + "-wal", to: quarantine)
    Witness(path: directory.file(file)).remove()
    try directory.sync()
  }

  /// Examines the log before SQLite does.
  ///
  /// - Throws: ``StorageError/corruptStore(reason:)`` when commits in it cannot be read any more.
  static func examineLog(
    in directory: StoreDirectory, _ durability: Durability
  ) throws(StorageError) {
    var log = tern_log()
    let name = SQLiteFormat.file + "-wal"
    // Safe: the structure lives through the call, which keeps no pointer.
    guard unsafe tern_log_examine(directory.file(name), &log) == 0 else {
      throw .backend(operation: "read \(name)", code: errno)
    }
    if let note = Witness(path: directory.file(file)).read().flatMap(LogNote.init),
      note.boot == 0 || note.boot == runningSystem
    {
      try compare(log, with: note, name)
    }
    if durability == .durable, log.hasCommitsBehind != 0 {
      throw .corruptStore(
        reason: "\(name) is damaged at byte \(log.committedEnd), with commits behind it")
    }
  }

  private static func compare(
    _ log: tern_log, with note: LogNote, _ name: String
  ) throws(StorageError) {
    if log.isValid != 0 {
      // Other salts are those of a later log: this one was in the database before it began.
      guard log.firstSalt == note.firstSalt, log.secondSalt == note.secondSalt,
        log.committedEnd < note.end
      else { return }
      throw .corruptStore(
        reason: "\(name) is whole up to byte \(log.committedEnd), and commits were stored up to "
          + "byte \(note.end)")
    }
    if note.isMoved { return }
    throw .corruptStore(
      reason: (log.exists != 0 ? "the header of \(name) is damaged" : "\(name) is gone or empty")
        + ", and commits were stored in it; if it was left out on purpose, remove the file \(file)")
  }

  /// A number for this running of the system; 0 when it has none.
  private static let runningSystem: UInt64 = {
    let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 40)
    // Safe: `read` writes at most the bytes of the array and keeps no pointer.
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, 40) }
    guard count == 37 else { return 0 }
    return unsafe bytes.withUnsafeBytes { unsafe tern_pages_checksum($0.baseAddress, 40, 0) } | 1
  }()
}

/// The payload of the witness: a log, by its salts, and the end of its last commit noted.
private struct LogNote {
  var firstSalt: UInt32 = 0
  var secondSalt: UInt32 = 0
  /// In bytes from the start of the log.
  var end: UInt64
  /// The running system the note is good for; 0 for any, as the log was synced.
  var boot: UInt64
  /// True when all of the log is in the database, so that the log may be gone.
  var isMoved = false

  static let bytes = 25

  init(end: UInt64, boot: UInt64) {
    self.end = end
    self.boot = boot
  }

  init?(_ payload: [UInt8]) {
    guard payload.count == Self.bytes else { return nil }
    func number(_ range: Range<Int>) -> UInt64 {
      payload[range].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    firstSalt = UInt32(truncatingIfNeeded: number(0..<4))
    secondSalt = UInt32(truncatingIfNeeded: number(4..<8))
    end = number(8..<16)
    boot = number(16..<24)
    isMoved = payload[24] != 0
  }

  /// Least significant bytes first: salts, end, running system; then 1 for a moved log.
  var payload: [UInt8] {
    var payload: [UInt8] = []
    payload.reserveCapacity(Self.bytes)
    for salt in [firstSalt, secondSalt] {
      for shift in 0..<4 { payload.append(UInt8(truncatingIfNeeded: salt >> (8 * UInt32(shift)))) }
    }
    for number in [end, boot] {
      for shift in 0..<8 {
        payload.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(shift))))
      }
    }
    payload.append(isMoved ? 1 : 0)
    return payload
  }
}
