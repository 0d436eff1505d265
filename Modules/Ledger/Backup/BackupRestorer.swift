public import TernStorage

/// Writes backups into an empty store, a whole one first and its increments behind it.
///
/// Read each backup once before with ``BackupReader/verify(_:onSection:)``: what is found only here
/// leaves a part of it in the store.
public struct BackupRestorer {
  private let store: any OrderedStore
  private var pending: [BackupBlock] = []
  private var pendingBytes = 0
  /// The last backup that was written.
  public private(set) var last: (header: BackupHeader, summary: BackupSummary)?

  /// Writes into `store`, which must be empty.
  ///
  /// - Throws: ``BackupError/ledger(_:)`` with `foreignStore` when it is not.
  public init(into store: any OrderedStore) throws(BackupError) {
    self.store = store
    let isEmpty: Bool
    do throws(StorageError) {
      isEmpty = try store.read { snapshot throws(StorageError) in
        try snapshot.scan(limit: 1).isEmpty
      }
    } catch {
      throw .storage(error)
    }
    guard isEmpty else { throw .ledger(.foreignStore) }
  }

  /// Writes the next backup.
  ///
  /// - Parameter onProgress: Called with the number of bytes read so far.
  /// - Throws: ``BackupError/wrongBase(version:)`` for an increment to another backup.
  public mutating func write(
    _ read: @escaping (Int) throws(BackupError) -> [UInt8],
    onProgress: (UInt64) -> Void = { _ in }
  ) throws(BackupError) {
    var reader = BackupReader(read)
    var summary: BackupSummary?
    while let section = try reader.next() {
      switch section {
      case .header(let header): try check(header)
      case .block(let block): try add(block)
      case .ranges: break
      case .end(let found): summary = found
      }
      onProgress(reader.offset)
    }
    try flush()
    guard let header = reader.header, let summary else { throw .cut(at: reader.offset) }
    last = (header, summary)
  }

  /// Compares what is in the store with the last backup that was written.
  ///
  /// - Throws: ``BackupError/differs``.
  public func finish() throws(BackupError) {
    guard let summary = last?.summary else { throw .cut(at: 0) }
    var (digest, rows) = (RowDigest(), UInt64(0))
    do throws(StorageError) {
      try store.read { snapshot throws(StorageError) in
        var cursor = snapshot.cursor()
        while try cursor.next() {
          digest.add(key: cursor.key, value: cursor.value)
          rows += 1
        }
      }
    } catch {
      throw .storage(error)
    }
    guard digest.value == summary.contents, rows == summary.rows else { throw .differs }
  }

  private func check(_ header: BackupHeader) throws(BackupError) {
    switch (header.base, last) {
    case (nil, nil): return
    case (let base?, let last?) where base.digest == last.summary.digest: return
    case (let base?, _): throw .wrongBase(version: base.version)
    case (nil, .some): throw .wrongBase(version: 0)
    }
  }

  private mutating func add(_ block: BackupBlock) throws(BackupError) {
    pending.append(block)
    pendingBytes += block.rows.reduce(64) { $0 + $1.key.count + $1.value.count }
    if pendingBytes >= BackupLimits.writeBytes { try flush() }
  }

  private mutating func flush() throws(BackupError) {
    if pending.isEmpty { return }
    let blocks = exchange(&pending, with: [])
    pendingBytes = 0
    let isFirst = last == nil
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        for block in blocks {
          if !isFirst { try transaction.remove(in: block.range) }
          for row in block.rows { try transaction.put(row.value.span, for: row.key.span) }
        }
      }
    } catch {
      throw .storage(error)
    }
  }
}
