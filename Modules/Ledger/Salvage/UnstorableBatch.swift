import TernStorage

/// A batch in the journal with commits whose rows no store takes, and what remains without them.
///
/// Earlier versions acknowledged such commits; settling them fails, and with it every later write.
/// Source: Docs/Formats/ledger.md, section 7.
struct UnstorableBatch {
  /// The key of the batch's row.
  let key: [UInt8]
  /// The row as it is stored.
  let value: [UInt8]
  /// The batch without those commits: what takes the place of the row.
  let remainder: [UInt8]
}

extension Journal {
  /// The batches that hold commits with rows beyond ``StorageLimits``; none that cannot be read.
  static func unstorableBatches(
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [UnstorableBatch] {
    var found: [UnstorableBatch] = []
    // One at a time, for those that are damaged are found elsewhere.
    var range = Self.range
    while let key = try nextKey(in: range, view) {
      range.lower = key + [0]
      guard let value = try readable(key, view), let remainder = remainder(of: value) else {
        continue
      }
      found.append(UnstorableBatch(key: key, value: value, remainder: remainder))
    }
    return found
  }

  /// Returns a batch without the commits that cannot be stored; `nil` when all can.
  private static func remainder(of value: [UInt8]) -> [UInt8]? {
    guard let (time, entries) = JournalEntry.batch(value) else { return nil }
    let kept = entries.filter(\.isStorable)
    if kept.count == entries.count { return nil }
    var writer = ByteWriter()
    writer.append(bigEndian: time)
    for entry in kept { entry.append(to: &writer) }
    return writer.bytes
  }

  private static func nextKey(
    in range: KeyRange, _ view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [UInt8]? {
    do throws(StorageError) { return try view.scan(range, limit: 1).first?.key } catch {
      guard case .corruptRecord(let key) = error else { throw error }
      return key
    }
  }

  private static func readable(
    _ key: [UInt8], _ view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [UInt8]? {
    do throws(StorageError) { return try view.get(key) } catch {
      guard error.isCorruption else { throw error }
      return nil
    }
  }
}

extension JournalEntry {
  /// True when a store takes every row of the commit.
  fileprivate var isStorable: Bool {
    do throws(StorageError) { try mutations.checkLimits() } catch { return false }
    return true
  }

  fileprivate func append(to writer: inout ByteWriter) {
    let commit = Commit(claim: claim, mutations: mutations, record: [], outcome: outcome)
    Self.append(commit, version, to: &writer)
  }
}
