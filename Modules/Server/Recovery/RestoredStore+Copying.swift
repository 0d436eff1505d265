public import TernLedger
public import TernStorage

extension RestoredStore {
  /// The longest prefix at which index rows hold references as all others do.
  private static let plainPrefixBytes = 75

  /// Copies one database with its rules and settings to another store, in one write. No server has
  /// it open.
  ///
  /// - Throws: ``BackupError/inaccessible(_:)`` when there is no database of that name, or one of
  ///   the new name already. ``BackupError/ledger(_:)`` with `foreignStore` when the target is a
  ///   node's copy of a shared log.
  public func copyDatabase(
    _ name: String, as new: String, into target: any OrderedStore
  ) throws(BackupError) {
    let (old, other) = (DatabaseLayout.database(name), DatabaseLayout.database(new))
    if old.isDocuments, max(old.prefix.count, other.prefix.count) > Self.plainPrefixBytes {
      throw .inaccessible("names of document databases of more than 73 bytes cannot be changed")
    }
    var pairs = [(from: KeyRange(prefix: old.prefix), count: old.prefix.count, to: other.prefix)]
    if !old.isDocuments {
      for kind in [StoreLayout.rules, StoreLayout.settings] {
        let key = kind + name.utf8
        pairs.append((from: KeyRange(only: key), count: key.count, to: kind + new.utf8))
      }
    }
    // Reading through a ledger sees what its journal holds.
    do throws(LedgerError) {
      try NodeCopy.refuse(target)
      let from = try EmbeddedLedger(store: store) { 0 }
      _ = try EmbeddedLedger(store: target) { 0 }
      try from.read { [pairs] snapshot throws(StorageError) in
        guard try !snapshot.scan(pairs[0].from, limit: 1).isEmpty else { throw .abandoned }
        try target.write { transaction throws(StorageError) in
          guard try transaction.scan(KeyRange(prefix: other.prefix), limit: 1).isEmpty else {
            throw .abandoned
          }
          for pair in pairs {
            var cursor = snapshot.cursor(over: pair.from)
            while try cursor.next() {
              let key = pair.to + [UInt8](copying: cursor.key).dropFirst(pair.count)
              try transaction.put(cursor.value, for: key.span)
            }
          }
        }
      }
    } catch {
      guard error == .storage(.abandoned) else { throw .ledger(error) }
      throw .inaccessible(
        "there is no database \"\(name)\" in the backup, or a database \"\(new)\" already")
    }
  }
}
