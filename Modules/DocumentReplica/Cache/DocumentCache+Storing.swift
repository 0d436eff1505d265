import TernCore
package import TernStorage

extension DocumentCache {
  /// Ends a turn: stores everything gathered since the last call in one storage transaction.
  ///
  /// An eager cache drops the documents that are no longer needed.
  ///
  /// - Throws: The error of this commit, or of a read since the last call. The gathered changes
  ///   stay, and the next call stores them.
  package mutating func commit() throws(StorageError) {
    storeEdits(endingTurn: true)
    if let failure {
      self.failure = nil
      throw failure
    }
  }

  /// Stores what was gathered; it stays gathered when that fails.
  mutating func storeEdits(endingTurn: Bool = false) {
    for _ in 0..<Self.repairLimit where !isDetached {
      do throws(StorageError) {
        return try tryStoring(endingTurn: endingTurn)
      } catch .corruptRecord(let key) {
        drop(key)
      } catch .corruptStore(let reason) {
        fail(.corruptStore(reason: reason))
      } catch {
        failure = failure ?? error
        return
      }
    }
    if isDetached { return endingTurn ? endTurn() : () }
    startAnew()
  }

  private mutating func tryStoring(endingTurn: Bool) throws(StorageError) {
    let leaving = endingTurn && settings.isEager ? candidates.filter { !isPinned($0) } : []
    if edits.isEmpty, changedTargets.isEmpty, leaving.isEmpty, !hasNewHead {
      if endingTurn { endTurn() }
      return
    }
    var writer = CacheWriter(self)
    var records: [DocumentTargetRecord] = []
    let (edits, targets, changed) = (edits, targets, changedTargets)
    let keys = keys
    try store.write { transaction throws(StorageError) in
      // In order of keys, for what lies side by side is written faster.
      for key in edits.keys.sorted() {
        if let edit = edits[key] { try writer.apply(edit, to: key, &transaction) }
      }
      for id in changed.union(writer.keyDeltas.keys).sorted() {
        guard let target = targets[id] else { continue }
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
    edits = [:]
    changedTargets = []
    hasNewHead = false
    takeOver(writer)
    for record in records {
      targets[record.id]?.record.keyCount = record.keyCount
      targets[record.id]?.stored = record
    }
  }

  /// Takes over the books of a writer whose transaction succeeded.
  mutating func takeOver(_ writer: CacheWriter) {
    head = writer.head
    collections = writer.collections
    for outcome in writer.outcomes {
      hot.update(outcome.place.collection, outcome.place.id.span, outcome.value?.span)
    }
  }

  private mutating func endTurn() {
    candidates = []
    head.sequence += 1
  }

  /// Returns `true` if a view or a pending write needs a document.
  func isPinned(_ key: DocumentKey) -> Bool {
    pending.holds(key) || targets.values.contains { $0.view.contains(key) }
  }

  /// Removes a target without listeners, and its result.
  mutating func forgetTarget(_ id: Int32) {
    var writer = CacheWriter(self)
    let keys = keys
    var places: [DocumentPlace] = []
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        guard let stored = try keys.target(id, in: transaction) else { return }
        places = try writer.removeTarget(stored, &transaction)
        try transaction.put(writer.head.record, for: keys.head)
      }
      takeOver(writer)
    } catch .corruptRecord(let key) {
      return drop(key)
    } catch {
      failure = failure ?? error
      return
    }
    for place in places {
      if let collection = collections[place.collection] {
        candidates.insert(collection.key(place.id))
      }
    }
  }
}
