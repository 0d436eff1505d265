import TernCore
import TernQuery
import TernStorage
import TernTestKit
import Testing

@testable import TernDocumentReplica

extension CacheWorld {
  /// One random step, and a look at what it left.
  mutating func step() throws {
    switch dice.roll(16) {
    case 0...2: changeTruth()
    case 3, 4: try write()
    case 5: try acknowledge()
    case 6: try reject()
    case 7, 8: try listen()
    case 9: release()
    case 10...12: try hear()
    case 13: try commit()
    case 14: try maintain()
    default: try reopenOrSwitch()
    }
    try check(query())
    try checkDocument(key())
    for id in listened.keys.sorted() { try checkListened(id) }
  }

  // MARK: The server

  private mutating func tick() -> DocumentVersion {
    clock += 1 + Int64(dice.roll(3))
    return DocumentVersion(microseconds: clock)
  }

  private mutating func changeTruth() {
    for _ in 0...dice.roll(4) {
      let key = key()
      let version = tick()
      truth[key] =
        dice.roll(4) == 0
        ? Document(key, .missing, version: version)
        : Document(key, .found(fields()), version: version, created: version)
    }
  }

  /// Tells everything that has changed about some targets, and what their views make of it.
  private mutating func hear() throws {
    let version = tick()
    var event = DocumentServerEvent(version: version)
    var documents: [DocumentKey: Document] = [:]
    for id in listened.keys.sorted() where dice.roll(3) > 0 {
      guard let target = listened[id] else { continue }
      let now = target.query.run(over: Array(truth.values))
      let keys = Set(now.map(\.key))
      event.targets[id] = DocumentServerEvent.TargetDelta(
        added: keys.subtracting(target.remoteKeys),
        modified: keys.intersection(target.remoteKeys),
        removed: target.remoteKeys.subtracting(keys), resumeToken: [UInt8(dice.roll(200))],
        isCurrent: true)
      for document in now { documents[document.key] = document }
      listened[id]?.remoteKeys = keys
    }
    for key in truth.keys.sorted() where dice.roll(8) == 0 { documents[key] = truth[key] }
    if dice.roll(6) == 0, let key = bases.keys.sorted().first {
      // The server says that nothing may be known of a document.
      documents[key] = Document(key, .missing)
      for id in listened.keys { listened[id]?.remoteKeys.remove(key) }
      for id in event.targets.keys {
        event.targets[id]?.added.remove(key)
        event.targets[id]?.modified.remove(key)
      }
      for id in listened.keys where event.targets[id] == nil {
        event.targets[id] = DocumentServerEvent.TargetDelta()
      }
      for id in listened.keys { event.targets[id]?.removed.insert(key) }
    }
    event.documents = Array(documents.values)
    try tell(event)
    for id in event.targets.keys.sorted() where !(event.targets[id]?.resumeToken.isEmpty ?? true) {
      look(id)
    }
  }

  private mutating func tell(_ event: DocumentServerEvent) throws {
    var accepted: Set<DocumentKey> = []
    for document in event.documents {
      let key = document.key
      let old = bases[key]?.document
      if document.state == .missing, document.version == .none {
        bases[key] = nil
        accepted.insert(key)
      } else if old == nil || document.version > old?.version ?? .none
        || document.version == old?.version && old?.localWrites == .committed
      {
        bases[key] = Base(document: document, readTime: event.version)
        accepted.insert(key)
      }
    }
    let changed = cache.applyServer(event)
    try #require(changed.map(\.key) == accepted.sorted(), "seed \(seed)")
    for document in changed {
      try #require(document == shown(document.key), "seed \(seed): \(document.key)")
    }
  }

  /// Works out the view of a target that is current, and reports it to the cache.
  private mutating func look(_ id: Int32) {
    guard let target = listened[id] else { return }
    let documents = result(target.query)
    let view = Set(documents.map(\.key))
    let limbo = documents.filter {
      !target.remoteKeys.contains($0.key) && $0.localWrites != .pending
    }
    cache.noteViewChanges(
      target: id, added: view.subtracting(target.view), removed: target.view.subtracting(view),
      isFromCache: !limbo.isEmpty)
    listened[id]?.view = view
  }

  // MARK: The device

  private mutating func write() throws {
    let mutations = (0...dice.roll(3)).map { _ in mutation() }
    let bases = cache.baseMutations(for: mutations)
    lastBatch += 1
    let batch = DocumentBatch(
      id: lastBatch, user: user,
      localWriteTime: DocumentTimestamp(uncheckedMicroseconds: 5_000 + Int64(lastBatch)),
      baseMutations: bases, mutations: mutations)
    batches.append(batch)
    let changed = cache.write(batch)
    #expect(Set(changed.keys) == Set(mutations.map(\.key)))
    for (key, document) in changed { try #require(document == shown(key), "seed \(seed): \(key)") }
  }

  private mutating func acknowledge() throws {
    guard let batch = batches.first(where: { $0.user == user }) else { return }
    batches.removeAll { $0.id == batch.id }
    let version = tick()
    for key in batch.keys {
      let before = bases[key]?.document ?? .invalid(key)
      var after = before
      DocumentMutation.acknowledge(
        batch.mutations.filter { $0.key == key }.map {
          DocumentMutation.Accepted(write: $0, version: version, results: [])
        }, over: &after)
      if after != before { bases[key] = Base(document: after, readTime: version) }
      if after.state == .found(after.fields ?? .empty) || after.state == .missing {
        // The server has what it accepted.
        var told = after
        told.localWrites = .none
        if truth[key]?.version ?? .none < told.version { truth[key] = told }
      }
    }
    let changed = cache.acknowledge(batch.id, version: version, results: [])
    for (key, document) in changed { try #require(document == shown(key), "seed \(seed): \(key)") }
  }

  private mutating func reject() throws {
    guard let batch = batches.first(where: { $0.user == user }) else { return }
    batches.removeAll { $0.id == batch.id }
    for (key, document) in cache.reject(batch.id) {
      try #require(document == shown(key), "seed \(seed): \(key)")
    }
  }

  private mutating func listen() throws {
    guard listened.count < 4 else { return }
    let query = try query()
    if listened.values.contains(where: { $0.query.target == query.target }) { return }
    let record = cache.allocate(.query(query.target))
    let loaded = LoadedResult(
      documents: cache.run(query).documents, remoteKeys: cache.remoteKeys(of: record.id))
    let agrees = cache.agrees(loaded, query, record.id)
    try #require(agrees, "seed \(seed): \(query.id)")
    let known = remembered[query.target.id] ?? []
    if record.resumeToken.isEmpty, record.keyCount == 0 {
      listened[record.id] = Listened(query: query, remoteKeys: [])
    } else {
      #expect(record.keyCount == known.count, "seed \(seed)")
      listened[record.id] = Listened(query: query, remoteKeys: known)
    }
  }

  private mutating func release() {
    guard let id = listened.keys.sorted().first, let target = listened.removeValue(forKey: id)
    else { return }
    remembered[target.query.target.id] = target.remoteKeys
    cache.release(id)
    if settings.isEager { forgetUnneeded() }
  }

  private mutating func maintain() throws {
    switch dice.roll(6) {
    case 0:
      let wanted = try query().idealIndexes
      cache.setIndexes(cache.allIndexes.filter { _ in dice.roll(3) > 0 } + wanted)
    case 1: cache.deleteAllIndexes()
    case 2:
      cache.createsIndexes = true
      while cache.backfillIndexes(limit: 1 + dice.roll(20)) > 0 {}
      #expect(cache.areIndexesComplete)
    case 3: _ = cache.backfillIndexes(limit: 3)
    case 4: evict()
    default: try commit()
    }
  }

  private mutating func commit() throws {
    try cache.commit()
    if settings.isEager { forgetUnneeded() }
  }

  private mutating func evict() {
    cache.evict(DocumentEviction(thresholdBytes: 0, percent: 50, passes: 1))
    forgetUnneeded()
  }

  /// Takes over that documents are gone, where they were allowed to go.
  private mutating func forgetUnneeded() {
    try? cache.commit()
    let pinned = Set(batches.flatMap { $0.mutations.map(\.key) })
      .union(listened.values.flatMap { $0.remoteKeys.union($0.view) })
    for key in bases.keys where !pinned.contains(key) {
      if cache.stored.base(key).document.state == .invalid { bases[key] = nil }
    }
  }

  private mutating func reopenOrSwitch() throws {
    if dice.roll(2) == 0 {
      user = user.isEmpty ? "ada" : ""
      for (key, document) in cache.switchUser(to: user) {
        try #require(document == shown(key), "seed \(seed): \(key)")
      }
      return
    }
    if settings.isEager { return }
    for id in listened.keys.sorted() { release(id) }
    try cache.commit()
    try opened.reopen()
    cache = try DocumentCache(
      store: opened.store, prefix: [7], settings: settings, user: user, batches: batches)
  }

  private mutating func release(_ id: Int32) {
    guard let target = listened.removeValue(forKey: id) else { return }
    remembered[target.query.target.id] = target.remoteKeys
    cache.release(id)
  }
}
