import Synchronization
import TernStorage

/// Space held back for removals on a full disk: pages of rows inside the file, which no other file
/// can take, and a little of the disk for the commits that free them.
///
/// LMDB never gives pages back to the disk. A reserve outside the file could not be had again once
/// a removal had made the file grow.
final class LMDBReserve: Sendable {
  /// The most bytes of the rows. The list of their pages fits a node of LMDB.
  private static let rowBytes = 896 << 10
  private static let ballastBytes = 64 << 10
  private static let ballastName = "ballast"

  /// The bytes of the rows.
  private let bytes: Int
  private let ballast: ReservedSpace
  private let limitBytes: Int?
  private let held = Mutex(false)

  /// True when the rows that reserve space are stored.
  private(set) var isHeld: Bool {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }

  /// A reserve of at most a sixteenth of `limitBytes`. It does not keep the directory, whose hold
  /// ends with the store's file.
  init(_ directory: StoreDirectory, limitBytes: Int?) {
    self.limitBytes = limitBytes
    bytes = min(Self.rowBytes, (limitBytes ?? .max) / 16)
    // Versions before this one held all of the space in this file.
    let held = directory.bytes(of: Self.ballastName) ?? 0
    if held > Self.ballastBytes { directory.remove(Self.ballastName) }
    ballast = ReservedSpace(path: directory.file(Self.ballastName), bytes: Self.ballastBytes)
  }

  /// Returns true when the disk may have space for the rows.
  func mayBeHeld(in environment: LMDBEnvironment) throws(StorageError) -> Bool {
    try !environment.open().directory.hasLess(than: 2 * bytes)
  }

  /// Takes the space if there is enough, in the file or on the disk. The caller holds the write
  /// lock.
  ///
  /// - Throws: ``StorageError/syncFailed(code:)``, ``StorageError/corruptStore(reason:)``.
  func hold(in environment: LMDBEnvironment) throws(StorageError) {
    ballast.hold()
    while !isHeld {
      let transaction = try environment.beginWrite()
      defer { transaction.abort() }
      do throws(StorageError) {
        isHeld = try LMDBFormat.hasReserve(transaction)
        if isHeld { return }
        try LMDBFormat.putReserve(bytes, transaction)
        try transaction.commit()
        isHeld = true
      } catch {
        guard error == .diskFull else { throw error }
        guard transaction.isMapFull, limitBytes == nil else { return }
        transaction.abort()
        try environment.resizeMap { $0 * 2 }
      }
    }
  }

  /// Gives the space to the next transaction. The caller holds the write lock, and has no
  /// transaction.
  func release(in environment: LMDBEnvironment) throws(StorageError) {
    ballast.release()
    guard isHeld else { return }
    do throws(StorageError) {
      let transaction = try environment.beginWrite()
      defer { transaction.abort() }
      try LMDBFormat.removeReserve(transaction)
      try transaction.commit()
      isHeld = false
      // LMDB uses a page again in the second transaction after the one that freed it.
      try Self.pass(environment)
    } catch {
      // The removal may have room without it.
      guard error == .diskFull else { throw error }
    }
  }

  /// Forgets what was held in a file that is gone.
  func reset() {
    ballast.release()
    isHeld = false
  }

  /// Makes a commit that changes nothing.
  static func pass(_ environment: LMDBEnvironment) throws(StorageError) {
    let transaction = try environment.beginWrite()
    defer { transaction.abort() }
    try LMDBFormat.create(transaction)
    try transaction.commit()
  }
}
