import CLMDB
import Synchronization
public import TernStorage

/// A store in one LMDB file. Format: Docs/Formats/storage-lmdb.md.
///
/// Snapshots read the mapped file without copying. The directory is held for this one opening.
public final class LMDBStore: OrderedStore {
  /// The most snapshots at one time.
  public static let readerLimit = 126
  /// The disk space that removals may take past the limit; it is given back at once.
  static let removalBytes = 1024 * 1024
  /// With less than this left a disk counts as full.
  static let fullDiskBytes = 1024 * 1024

  private let environment: LMDBEnvironment
  private let durability: Durability
  private let mapBytes: Int?
  private let writer: Mutex<Writer>

  private struct Writer: Sendable {
    let reserve: LMDBReserve
    var witness: LMDBWitness
    var isDiskFull = false
  }

  /// Opens the store in the directory `path`, and makes it if there is none.
  ///
  /// - Parameters:
  ///   - path: A directory for this store alone.
  ///   - durability: When a write returns. Relaxed still syncs data, and leaves out the second
  ///     sync of a commit.
  ///   - limitBytes: The size past which the store does not grow: `StorageError.diskFull`.
  /// - Throws: `StorageError.inUse(path:)`, `StorageError.readOnly(path:)`,
  ///   `StorageError.newerFormat(found:supported:)`, `StorageError.corruptStore(reason:)`.
  public convenience init(
    path: String, durability: Durability = .durable, limitBytes: Int? = nil
  ) throws(StorageError) {
    try self.init(
      path: path, durability: durability, limitBytes: limitBytes, mapBytes: limitBytes)
  }

  /// Like the public initialiser, with a first size for the map.
  package init(
    path: String, durability: Durability, limitBytes: Int?, mapBytes: Int?
  ) throws(StorageError) {
    let directory = try StoreDirectory(path: path)
    if directory.isBeingWiped { try directory.finishWipe(of: Self.files) }
    // Renamed when it was whole, it never had no byte; and the others are made after it.
    let isOld = directory.holds("ballast") || directory.holds(LMDBWitness.name)
    if directory.bytes(of: "rows.mdb") ?? (isOld ? 0 : 1) == 0 {
      throw .corruptStore(reason: "rows.mdb has no byte: it was cut off, or is gone")
    }
    if !directory.holds("rows.mdb") { try Self.create(directory) }
    // What a compaction left that was cut short.
    directory.remove(Self.newFile)
    var witness = LMDBWitness(directory, durability)
    let handle = try LMDBHandle(
      directory, "rows.mdb", durability, mapBytes: mapBytes, witness: witness.read())
    try witness.begin(with: handle)
    self.durability = durability
    self.mapBytes = mapBytes
    environment = LMDBEnvironment(handle, limitBytes: limitBytes)
    try Self.checkFormat(environment)
    let reserve = LMDBReserve(directory, limitBytes: limitBytes)
    try reserve.hold(in: environment)
    witness.advance(handle)
    // Without it the disk is full, and what is left is for removals, since the last start too.
    let state = Writer(reserve: reserve, witness: witness, isDiskFull: !reserve.isHeld)
    writer = Mutex(state)
  }

  private static func checkFormat(_ environment: LMDBEnvironment) throws(StorageError) {
    let reader = try environment.take()
    defer { environment.giveBack(reader) }
    try LMDBFormat.check(reader.transaction)
  }

  public func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let lent = try environment.take()
    defer { environment.giveBack(lent) }
    let reader: any StoreReader = lent
    return try body(Snapshot(reader))
  }

  public func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    var result: R?
    try writer.withLock { state throws(StorageError) in
      do throws(StorageError) {
        result = try transact(&state, body)
      } catch {
        if error == .diskFull { state.isDiskFull = true }
        if case .syncFailed = error { environment.fail() }
        throw error
      }
    }
    guard let result else { throw .abandoned }
    return result
  }

  /// Removes everything: the file is closed, overwritten and removed, and a new one is made.
  public func wipe() throws(StorageError) {
    try writer.withLock { state throws(StorageError) in
      try environment.replaceFile { directory throws(StorageError) in
        try directory.beginWipe()
        state.witness.remove()
      } with: { directory throws(StorageError) in
        try directory.finishWipe(of: Self.files)
        try Self.create(directory)
        let handle = try LMDBHandle(directory, "rows.mdb", durability, mapBytes: mapBytes)
        try state.witness.begin(with: handle)
        return handle
      }
      state.reserve.reset()
      try state.reserve.hold(in: environment)
      state.witness.advance(try environment.open())
    }
  }

  /// Copies the rows to a new file, which takes the place of the old one once it is whole.
  public func compact() throws(StorageError) {
    try writer.withLock { state throws(StorageError) in
      try copy()
      do throws(StorageError) {
        try environment.replaceFile { directory throws(StorageError) in
          // The new file begins with commit 1.
          state.witness.remove()
          try directory.sync()
        } with: { directory throws(StorageError) in
          try directory.rename(Self.newFile, to: "rows.mdb")
          let handle = try LMDBHandle(directory, "rows.mdb", durability, mapBytes: mapBytes)
          try state.witness.begin(with: handle)
          return handle
        }
      } catch {
        try? environment.open().directory.remove(Self.newFile)
        throw error
      }
    }
  }

  /// Examines the file of an open store, and returns its length in bytes.
  func examineFile() throws(StorageError) -> Int {
    try writer.withLock { _ throws(StorageError) in
      let directory = try environment.open().directory
      try LMDBExamination.run(directory.file("rows.mdb"), nil)
      return directory.bytes(of: "rows.mdb") ?? 0
    }
  }

  /// Writes a compact copy, and examines it. The caller holds the write lock.
  private func copy() throws(StorageError) {
    let handle = try environment.open()
    do throws(StorageError) {
      try handle.copy(to: Self.newFile)
      try LMDBExamination.run(handle.directory.file(Self.newFile), nil)
    } catch {
      handle.directory.remove(Self.newFile)
      throw error
    }
  }

  /// The name of a file that is not whole yet.
  private static let newFile = "new.mdb"

  /// Every file that may hold rows, or what is left of them; and the ballast, beside which there is
  /// a file with bytes in it.
  private static let files = [
    "rows.mdb", "rows.mdb-lock", "new.mdb", "new.mdb-lock", "ballast", LMDBWitness.name,
  ]

  public func close() {
    writer.withLock { state in
      if let handle = try? environment.open() { state.witness.end(handle) }
      environment.close()
    }
  }

  private func transact<R>(
    _ state: inout Writer, _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    if state.isDiskFull, !state.reserve.isHeld, try state.reserve.mayBeHeld(in: environment) {
      try state.reserve.hold(in: environment)
    }
    let lmdb = try LMDBWriter(environment)
    defer { lmdb.transaction.abort() }
    if state.isDiskFull {
      lmdb.mustRemoveFirst = !state.reserve.isHeld
      lmdb.makeRoom = { [environment, reserve = state.reserve] () throws(StorageError) in
        try environment.raiseLimit(by: Self.removalBytes)
        try reserve.release(in: environment)
      }
    }
    let writer: any StoreWriter = lmdb
    var transaction = WriteTransaction(writer)
    let result = try body(&transaction)
    try lmdb.commit()
    if state.isDiskFull {
      // What is committed stays, also when nothing more fits.
      do throws(StorageError) { try settle(&state) } catch {
        guard error == .diskFull else { throw error }
      }
    }
    state.witness.advance(try environment.open())
    return result
  }

  /// Ends the state of a full disk after a transaction that found room.
  ///
  /// LMDB uses a page again two commits after the one that freed it, so two more are made while
  /// there is room.
  private func settle(_ state: inout Writer) throws(StorageError) {
    for _ in 0..<2 { try LMDBReserve.pass(environment) }
    try state.reserve.hold(in: environment)
    state.isDiskFull = !state.reserve.isHeld
    try environment.raiseLimit(by: 0)
  }

  /// Makes the file under another name, and gives it its own when it is durable: LMDB is not safe
  /// against a crash while it writes the first pages of a file.
  private static func create(_ directory: StoreDirectory) throws(StorageError) {
    directory.remove(newFile)
    let handle = try LMDBHandle(directory, newFile, .durable, mapBytes: 1 << 20)
    let transaction = try LMDBTransaction(handle, isReadOnly: false)
    try LMDBFormat.create(transaction)
    try transaction.commit()
    unsafe mdb_env_sync(handle.environment, 1)
    try directory.rename(newFile, to: "rows.mdb")
    directory.remove("new.mdb-lock")
  }
}
