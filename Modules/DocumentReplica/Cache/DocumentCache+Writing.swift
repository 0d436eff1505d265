package import TernCore
import TernStorage

// Local writes and what becomes of them. Source: documents reference, sections 3.4, 3.5 and 5.4.
extension DocumentBatch {
  /// Returns the batch's writes to one document, with the server's results.
  fileprivate func accepted(
    of key: DocumentKey, at version: DocumentVersion, _ results: [DocumentWriteResult]
  ) -> [DocumentMutation.Accepted] {
    mutations.indices.filter { mutations[$0].key == key }.map { index in
      let result = index < results.count ? results[index] : nil
      return DocumentMutation.Accepted(
        write: mutations[index], version: result?.version ?? version,
        results: result?.transformResults ?? [])
    }
  }
}

extension DocumentCache {
  /// The pending writes of the current user, oldest first.
  package var batches: [DocumentBatch] { pending.batches }

  /// Returns `true` while the server has not answered a write of the current user to a document.
  package func hasPendingWrites(to key: DocumentKey) -> Bool { pending.isChanging(key) }

  /// Returns the base values of a write's increments; called before the write is queued.
  ///
  /// Source: documents reference, section 3.4.
  package mutating func baseMutations(for mutations: [DocumentMutation]) -> [DocumentMutation] {
    var bases: [DocumentMutation] = []
    for mutation in mutations {
      if let base = mutation.baseMutation(for: document(mutation.key)) { bases.append(base) }
    }
    return bases
  }

  /// Returns a batch that is ready to queue: the writes and the base values of increments.
  ///
  /// - Parameters:
  ///   - id: Larger than that of every earlier batch.
  ///   - time: The device's clock.
  package mutating func prepare(
    _ mutations: [DocumentMutation], id: UInt64, user: String, at time: DocumentTimestamp
  ) -> DocumentBatch {
    DocumentBatch(
      id: id, user: user, localWriteTime: time,
      baseMutations: baseMutations(for: mutations), mutations: mutations)
  }

  /// Lays a queued write over the documents.
  ///
  /// - Returns: The documents it is about, as they are shown now.
  package mutating func write(_ batch: DocumentBatch) -> [DocumentKey: Document] {
    let keys = batch.keys
    let before = stored.bases(keys.filter { pending.shown[$0] == nil })
    guard pending.append(batch) else { return [:] }
    var shown: [DocumentKey: Document] = [:]
    for key in keys {
      let document = pending.shown[key] ?? before[key]?.document ?? .invalid(key)
      shown[key] = pending.showLast(key, over: document)
    }
    return shown
  }

  /// Takes in that a server accepted a write.
  ///
  /// What it wrote is cached, marked as committed until the server itself shows it.
  /// - Parameters:
  ///   - id: The batch.
  ///   - version: The version of the commit.
  ///   - results: One for each mutation; where one is missing the commit's version counts.
  /// - Returns: The documents it was about, as they are shown now.
  package mutating func acknowledge(
    _ id: UInt64, version: DocumentVersion, results: [DocumentWriteResult]
  ) -> [DocumentKey: Document] {
    guard let batch = pending.remove(id) else { return [:] }
    let keys = batch.keys
    let old = stored.bases(keys)
    var bases = old
    for key in keys {
      let before = old[key]?.document ?? .invalid(key)
      var after = before
      DocumentMutation.acknowledge(
        batch.accepted(of: key, at: version, results), over: &after)
      guard after != before else { continue }
      bases[key] = CachedBase(document: after, readTime: version)
      stored.edits.update(key) { edit in
        edit.contents = (after, version)
        edit.isUsed = true
      }
    }
    stored.candidates.formUnion(keys)
    var shown: [DocumentKey: Document] = [:]
    for key in keys {
      shown[key] = pending.show(
        key, after: batch, over: old[key]?.document ?? .invalid(key),
        now: bases[key]?.document ?? .invalid(key))
    }
    return shown
  }

  /// Takes in that a server rejected a write: what it showed is undone.
  ///
  /// - Returns: The documents it was about, as they are shown now.
  package mutating func reject(_ id: UInt64) -> [DocumentKey: Document] {
    guard let batch = pending.remove(id) else { return [:] }
    stored.candidates.formUnion(batch.keys)
    return showAll(batch.keys)
  }

  /// Restores batches that another user queued in an earlier run.
  package mutating func restore(_ batches: [DocumentBatch]) {
    for batch in batches {
      let isShown = pending.append(batch)
      precondition(!isShown, "what the current user has queued is written, not restored")
    }
  }

  /// Makes another user's pending writes the ones that show.
  ///
  /// - Returns: The documents whose pending writes are others now, as they are shown.
  package mutating func switchUser(to user: String) -> [DocumentKey: Document] {
    showAll(pending.switchUser(to: user))
  }

  /// Works out anew what documents with pending writes show.
  @discardableResult
  mutating func showAll(_ keys: some Sequence<DocumentKey>) -> [DocumentKey: Document] {
    let keys = Array(keys)
    let bases = stored.bases(keys)
    var shown: [DocumentKey: Document] = [:]
    for key in keys {
      shown[key] = pending.show(key, over: bases[key]?.document ?? .invalid(key))
    }
    return shown
  }
}
