package import TernStorage

/// A store in which a node keeps its copy of a shared log.
package enum NodeCopy {
  /// Refuses such a store. A change that the log does not hold would make the copy differ from all
  /// others, and pass for current.
  ///
  /// - Throws: ``LedgerError/foreignStore`` for a copy, a partial one too, and one whose row that
  ///   says so is damaged.
  package static func refuse(_ store: any OrderedStore) throws(LedgerError) {
    let isCopy: Bool
    do throws(StorageError) {
      isCopy = try store.read { snapshot throws(StorageError) in
        try snapshot.contains(LedgerKey.replica)
      }
    } catch {
      isCopy = error == .corruptRecord(key: LedgerKey.replica)
      if !isCopy { throw .storage(error) }
    }
    if isCopy { throw .foreignStore }
  }
}
