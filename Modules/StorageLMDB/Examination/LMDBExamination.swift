import TernStorage

/// A look at all of a file before it is mapped. LMDB has no checksums and believes what it reads: a
/// flipped bit would hide rows, or end the program. Source: Docs/Decisions/0021.
enum LMDBExamination {
  /// Examines the file at `path`. O(its size), at a gigabyte a second and more.
  ///
  /// - Parameter witness: The newest commit that was known to be durable.
  /// - Returns: The newest commit in the file; `nil` when there is no file, or no byte in it.
  /// - Throws: ``StorageError/corruptStore(reason:)``; `backend` when the file cannot be read.
  @discardableResult
  static func run(
    _ path: String, _ witness: LMDBCommit?
  ) throws(StorageError) -> LMDBCommit? {
    guard MemoryLayout<Int>.size == 8, let file = LMDBFile(path), file.bytes > 0 else {
      return nil
    }
    let meta = try LMDBMeta.both(of: file)[0]
    let commit = LMDBCommit(transaction: UInt64(meta.transaction), digest: meta.digest)
    if let witness { try compare(commit, with: witness) }
    try examine(file, meta)
    return commit
  }

  private static func compare(
    _ commit: LMDBCommit, with witness: LMDBCommit
  ) throws(StorageError) {
    guard commit.transaction >= witness.transaction else {
      throw .corruptStore(
        reason: "commit \(witness.transaction) was durable, and the newest one in the file is "
          + "\(commit.transaction); if an older rows.mdb was put back, remove the file witness")
    }
    guard commit.transaction > witness.transaction || commit == witness else {
      throw .corruptStore(
        reason: "the meta page of commit \(commit.transaction) is not what was written")
    }
  }

  private static func examine(
    _ file: borrowing LMDBFile, _ meta: LMDBMeta
  ) throws(StorageError) {
    var pages = try LMDBPageSet(lastPage: meta.lastPage, filePages: file.bytes / meta.pageBytes)
    var rows = LMDBRowCheck()
    var main = LMDBTreeCheck<LMDBRowCheck>(meta.main, pageBytes: meta.pageBytes)
    try main.run(file, &pages, &rows)
    var free = LMDBFreeCheck()
    var freeTree = LMDBTreeCheck<LMDBFreeCheck>(meta.free, pageBytes: meta.pageBytes)
    try freeTree.run(file, &pages, &free)
    for page in free.pages { try pages.free(page) }
    // Every commit but the first frees the root before it.
    guard free.lastTransaction == meta.transaction || meta.transaction < 2 else {
      throw .corruptStore(
        reason: "the newest commit is \(meta.transaction), and pages were last freed by "
          + "\(free.lastTransaction)")
    }
  }
}
