import TernCore
import TernStorage

extension BaseCache {
  /// Stores what was gathered; it stays gathered when that fails.
  ///
  /// - Parameter leaving: The documents that are dropped if no target holds them.
  mutating func storeEdits(endingTurn: Bool = false, dropping leaving: Set<DocumentKey> = []) {
    for _ in 0..<Self.repairLimit where !isDetached {
      do throws(StorageError) {
        return try tryStoring(endingTurn, leaving)
      } catch .corruptRecord(let key) {
        drop(key)
      } catch .corruptStore(let reason) {
        fail(.corruptStore(reason: reason))
      } catch {
        return note(error)
      }
    }
    if isDetached { return endingTurn ? endTurn() : () }
    startAnew()
  }

  private mutating func tryStoring(
    _ endingTurn: Bool, _ leaving: Set<DocumentKey>
  ) throws(StorageError) {
    if edits.isEmpty, targets.changed.isEmpty, leaving.isEmpty, !hasNewHead {
      if endingTurn { endTurn() }
      return
    }
    var writer = CacheWriter(rows)
    var records: [DocumentTargetRecord] = []
    let (edits, targets, changed) = (edits.sorted(), targets, targets.changed)
    let keys = rows.keys
    try rows.store.write { transaction throws(StorageError) in
      // In order of keys, for what lies side by side is written faster.
      for (key, edit) in edits { try writer.apply(edit, to: key, &transaction) }
      for id in changed.union(writer.keyDeltas.keys).sorted() {
        guard let target = targets.known(id) else { continue }
        records.append(try writer.put(target, &transaction))
      }
      for key in leaving.sorted() {
        guard
          let collection = try writer.collection(of: key, isNeeded: false, &transaction)
        else { continue }
        let place = DocumentPlace(collection: collection.number, id: CollectionLookup.id(of: key))
        _ = try writer.removeUnreferenced(place, &transaction)
      }
      try transaction.put(writer.head.record, for: keys.head)
    }
    takeOver(writer, records)
    if endingTurn { endTurn() }
  }

  private mutating func takeOver(_ writer: CacheWriter, _ records: [DocumentTargetRecord]) {
    edits.removeAll()
    hasNewHead = false
    rows.takeOver(writer)
    targets.noteStored(records)
  }

  private mutating func endTurn() {
    candidates = []
    rows.head.sequence += 1
  }

  /// Removes a target without listeners, and its result.
  mutating func forgetTarget(_ id: Int32) {
    var writer = CacheWriter(rows)
    let keys = rows.keys
    var places: [DocumentPlace] = []
    do throws(StorageError) {
      try rows.store.write { transaction throws(StorageError) in
        guard let stored = try keys.target(id, in: transaction) else { return }
        places = try writer.removeTarget(stored, &transaction)
        try transaction.put(writer.head.record, for: keys.head)
      }
      rows.takeOver(writer)
      targets.forget(id)
    } catch .corruptRecord(let key) {
      return drop(key)
    } catch {
      return note(error)
    }
    for place in places {
      if let collection = rows.collections[place.collection] {
        candidates.insert(collection.key(place.id))
      }
    }
  }

  /// Stores rows as they are; an error is for the next commit.
  mutating func put(_ records: [([UInt8], [UInt8])]) {
    do throws(StorageError) {
      try rows.store.write { transaction throws(StorageError) in
        for (key, value) in records { try transaction.put(value, for: key) }
      }
    } catch {
      note(error)
    }
  }
}
