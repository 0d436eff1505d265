import Synchronization
public import TernStorage

/// A ledger over one ordered store, for a server that is one process.
///
/// It is the store's only writer. Calls do their work at once on the caller's thread; none of
/// them suspends except ``waitForCommit(after:)``. Every method may be called from any thread.
/// What it writes is described in Docs/Formats/ledger.md.
public final class EmbeddedLedger: Ledger {
  /// The format this version reads and writes.
  public static let format = 1

  let store: any OrderedStore
  let options: LedgerOptions
  let millisecondsSinceEpoch: @Sendable () -> Int64
  private let committer: Mutex<Committer>
  private let published: Mutex<Published>
  private let waiters = CommitWaiters()

  /// What readers may know without waiting for a commit.
  private struct Published {
    var version: Version
    var isCommitting = false
  }

  /// Opens the ledger in `store`, or begins one when the store is empty. O(1) in its size.
  ///
  /// - Parameter millisecondsSinceEpoch: Wall-clock time, by which silent streams expire.
  public init(
    store: any OrderedStore, options: LedgerOptions = LedgerOptions(),
    millisecondsSinceEpoch: @escaping @Sendable () -> Int64
  ) throws(LedgerError) {
    self.store = store
    self.options = options
    self.millisecondsSinceEpoch = millisecondsSinceEpoch
    try Self.claimFormat(of: store)
    let log = try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      try LogBounds.read(in: snapshot)
    }
    committer = Mutex(Committer(log: log))
    published = Mutex(Published(version: log.last))
  }

  public func read<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> R
  ) throws(LedgerError) -> R {
    let before = published.withLock { $0 }
    return try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      let after = published.withLock { $0 }
      let isQuiet = !before.isCommitting && !after.isCommitting && before.version == after.version
      // A commit in between leaves open which version was caught; the snapshot itself knows.
      let version = isQuiet ? after.version : try LogBounds.read(in: snapshot).last
      do throws(StorageError) {
        return try body(LedgerSnapshot(snapshot.reader, version: version))
      } catch {
        throw .storage(error)
      }
    }
  }

  public func commit(_ commits: [Commit]) throws(LedgerError) -> [CommitResult] {
    if commits.isEmpty { return [] }
    published.withLock { $0.isCommitting = true }
    defer { published.withLock { $0.isCommitting = false } }
    let (results, version) = try committer.withLock { committer throws(LedgerError) in
      try commit(commits, by: &committer)
    }
    published.withLock { $0.version = version }
    waiters.resumeAll()
    return results
  }

  private func commit(
    _ commits: [Commit], by committer: inout Committer
  ) throws(LedgerError) -> ([CommitResult], Version) {
    // What is kept in memory is handed over whole; after a failure it is read again.
    var batch = CommitBatch(by: committer, now: millisecondsSinceEpoch())
    committer = Committer(log: committer.log)
    do throws(StorageError) {
      let results = try store.write { transaction throws(StorageError) in
        var results: [CommitResult] = []
        results.reserveCapacity(commits.count)
        for commit in commits { results.append(try batch.apply(commit, to: &transaction)) }
        try batch.finish(options, in: &transaction)
        return results
      }
      committer = batch.committer
      return (results, committer.log.last)
    } catch {
      throw .storage(error)
    }
  }

  public func log(after version: Version, limit: Int) throws(LedgerError) -> [LogEntry] {
    try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      try LogReader.entries(after: version, limit: limit, in: snapshot)
    }
  }

  public func waitForCommit(after version: Version) async {
    await waiters.wait(unless: { published.withLock { $0.version > version } })
  }

  private static func claimFormat(of store: any OrderedStore) throws(LedgerError) {
    let found = try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      try formatFound(in: snapshot)
    }
    if found != nil { return }
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        try transaction.put(Array("tern ledger".utf8) + [UInt8(format)], for: LedgerKey.format)
      }
    } catch {
      throw .storage(error)
    }
  }

  /// The store's format; `nil` when the store is empty.
  private static func formatFound(in snapshot: borrowing Snapshot) throws(LedgerError) -> Int? {
    let row = try LedgerError.wrapping { () throws(StorageError) in
      try snapshot.scan(limit: 1).first
    }
    guard let row else { return nil }
    let name = Array("tern ledger".utf8)
    guard row.key == LedgerKey.format, row.value.count == name.count + 1,
      row.value.starts(with: name)
    else { throw .foreignStore }
    let found = Int(row.value[name.count])
    guard found <= format else { throw .newerFormat(found: found, supported: format) }
    return found
  }
}
