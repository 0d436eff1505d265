import TernCore
import TernQuery
import TernStorage
import TernSync

/// The server's state of documents and results of targets, without pending writes: stored rows,
/// and changes that are not stored yet.
///
/// A damaged record is dropped, with everything that cannot be answered without it. Without a
/// readable store all of it goes on in memory.
///
/// Three layers answer a read: ``edits``, the unstored changes; the tables in memory that mirror
/// rows; the rows themselves. Every read that meets a corrupt record drops it and starts again from
/// a new snapshot.
///
/// Errors never reach a reader: it gets what is known, and the next commit throws the error. After
/// a failure of the store itself the cache is *detached*, and continues in memory.
struct BaseCache: Sendable {
  /// The most damaged records dropped one by one; then the cache starts anew.
  static let repairLimit = 64
  /// The most gathered documents that queries look through before they are stored.
  static let editLimit = 1_000
  /// For how many keys memory is reserved on the word of a stored number.
  private static let reservedKeys = 1 << 16

  var rows: CacheRows
  var targets = TargetTable()
  /// The unstored changes of documents.
  var edits = DocumentEdits()
  /// The documents that an eager cache checks when the turn ends, to drop those not needed.
  var candidates: Set<DocumentKey> = []
  /// `true` if the head must be stored even without other changes.
  var hasNewHead = false
  /// The first error since the last commit that threw one; the next commit throws it.
  private var failure: StorageError?
  /// `true` if the store is unreadable, so that all data stays in memory.
  var isDetached = false

  /// Opens the rows in a store; data of another format is dropped.
  init(_ rows: CacheRows) throws(StorageError) {
    self.rows = rows
    do throws(StorageError) {
      if try !self.rows.readHead() { try reset() }
    } catch .corruptRecord {
      try reset()
    }
  }

  /// Notes an error for the next commit, unless there is one already.
  mutating func note(_ error: StorageError) { failure = failure ?? error }

  /// Calls `body`; what it throws is for the next commit.
  @discardableResult
  mutating func attempt<R>(_ body: (inout BaseCache) throws(StorageError) -> R) -> R? {
    do throws(StorageError) {
      return try body(&self)
    } catch {
      note(error)
      return nil
    }
  }

  /// Forgets everything that is stored and gathered.
  mutating func clear() throws(StorageError) {
    edits.removeAll()
    candidates = []
    targets.forgetChanges()
    rows.head.lastSnapshot = .none
    try reset()
  }

  /// Removes and returns the error for the next commit.
  mutating func takeFailure() -> StorageError? {
    defer { failure = nil }
    return failure
  }
}

// MARK: Documents

extension BaseCache {
  /// Returns the server's state of a document.
  mutating func base(_ key: DocumentKey) -> CachedBase {
    if let contents = edits[key]?.contents {
      return CachedBase(document: contents.document, readTime: contents.readTime)
    }
    return stored([key])[key] ?? CachedBase(document: .invalid(key))
  }

  /// Returns the server's state of several documents; leaves out those without a known state.
  mutating func bases(_ wanted: some Sequence<DocumentKey>) -> [DocumentKey: CachedBase] {
    if edits.isEmpty { return stored(Array(wanted)) }
    var found: [DocumentKey: CachedBase] = [:]
    var missing: [DocumentKey] = []
    for key in wanted {
      if let contents = edits[key]?.contents {
        found[key] = CachedBase(document: contents.document, readTime: contents.readTime)
      } else {
        missing.append(key)
      }
    }
    if found.isEmpty { return stored(missing) }
    if !missing.isEmpty { found.merge(stored(missing)) { $1 } }
    return found
  }

  private mutating func stored(_ wanted: [DocumentKey]) -> [DocumentKey: CachedBase] {
    reading(orElse: [:]) { base, snapshot throws(StorageError) in
      var found: [DocumentKey: CachedBase] = [:]
      var place = CollectionLookup()
      for key in wanted {
        guard let collection = try place.collection(of: key, &base.rows, in: snapshot) else {
          continue
        }
        found[key] = try base.rows.read(key, in: collection, snapshot)
      }
      return found
    }
  }

  /// Reads from one snapshot; damaged records are dropped, and then it is read again.
  mutating func reading<R>(
    orElse fallback: R,
    _ body: (inout BaseCache, borrowing Snapshot) throws(StorageError) -> R
  ) -> R {
    for _ in 0..<Self.repairLimit where !isDetached {
      do throws(StorageError) {
        let store = rows.store
        return try store.read { snapshot throws(StorageError) in try body(&self, snapshot) }
      } catch .corruptRecord(let key) {
        drop(key)
      } catch {
        fail(error)
      }
    }
    if isDetached { return fallback }
    startAnew()
    return fallback
  }
}

// MARK: Targets

extension BaseCache {
  /// Takes in what a server told about the result of a target with listeners.
  mutating func apply(
    _ delta: DocumentServerEvent.TargetDelta, to id: Int32, _ event: DocumentServerEvent
  ) {
    guard targets[id] != nil else { return }
    for key in delta.removed {
      edits.update(key) { $0.targets.note(id, isEntry: false) }
      candidates.insert(key)
    }
    edits.noteEntries(of: delta.added, into: id, broughtBy: event.documents)
    targets.apply(delta, to: id, event, sequence: rows.head.sequence)
  }

  /// Begins to listen: names a target, or finds the name, token and result it had.
  mutating func allocate(_ subject: WatchTarget.Subject) -> DocumentTargetRecord {
    if let active = targets.find(subject) { return active.record }
    let record = rememberedOrNew(subject)
    var target = targets.released[record.id] ?? ActiveTarget(found: record)
    target.record.sequence = rows.head.sequence
    targets.put(target)
    return target.record
  }

  /// Ends listening; the target stays until eviction, or goes now if `isForgotten`.
  mutating func release(_ id: Int32, isForgotten: Bool) {
    guard var target = targets[id] else { return }
    candidates.formUnion(target.view)
    target.record.sequence = rows.head.sequence
    targets.put(target)
    storeEdits()
    targets.remove(id, isDetached: isDetached)
    if isForgotten { forgetTarget(id) }
  }

  /// The documents that the server last said belong to a target's result.
  mutating func remoteKeys(of target: Int32) -> Set<DocumentKey> {
    var found: Set<DocumentKey> = reading(orElse: []) { base, snapshot throws(StorageError) in
      var found: Set<DocumentKey> = []
      let expected = base.targets[target]?.record.keyCount ?? 0
      found.reserveCapacity(min(expected, Self.reservedKeys))
      try base.rows.visitMappings(of: target, snapshot) { key, _ in found.insert(key) }
      return found
    }
    for (key, edit) in edits {
      switch edit.targets[target] {
      case true: found.insert(key)
      case false: found.remove(key)
      case nil: break
      }
    }
    return found
  }

  /// Notes what a view shows, so that it stays cached.
  mutating func noteViewChanges(
    target id: Int32, added: Set<DocumentKey>, removed: Set<DocumentKey>, isFromCache: Bool
  ) {
    let isActive = targets.noteViewChanges(
      target: id, added: added, removed: removed, isFromCache: isFromCache)
    guard isActive else { return }
    for key in removed { edits.update(key) { $0.isUsed = true } }
    candidates.formUnion(removed)
  }

  /// Returns the record of a target, with or without listeners.
  mutating func remembered(_ subject: WatchTarget.Subject) -> DocumentTargetRecord? {
    if let known = targets.find(subject) ?? targets.findReleased(subject) { return known.record }
    let bytes = SubjectBytes.of(subject)
    let keys = rows.keys
    let stored: StoredTarget? = reading(orElse: nil) { _, snapshot throws(StorageError) in
      try keys.target(of: bytes, in: snapshot)
    }
    return stored?.target(subject)
  }

  /// Returns the record of a target, which is made when there is none.
  mutating func rememberedOrNew(_ subject: WatchTarget.Subject) -> DocumentTargetRecord {
    // Counts of a result's documents are brought up to date when they are stored.
    if !edits.isEmpty { storeEdits() }
    if let found = remembered(subject) { return found }
    rows.head.highestTarget += 2
    rows.head.targetCount += 1
    hasNewHead = true
    return DocumentTargetRecord(id: rows.head.highestTarget, subject: subject)
  }

  /// Makes documents the result of a target.
  ///
  /// - Parameters:
  ///   - version: As of when; none for a target that is never asked for.
  ///   - isWhole: Whether what was its result before is not any more.
  mutating func fill(
    _ record: DocumentTargetRecord, _ version: DocumentVersion, with members: [DocumentKey],
    isWhole: Bool = false
  ) {
    let id = record.id
    let isActive = targets[id] != nil
    var target = targets.known(id) ?? ActiveTarget(found: record)
    target.record.sequence = rows.head.sequence
    if isWhole {
      for key in remoteKeys(of: id) { edits.update(key) { $0.targets.note(id, isEntry: false) } }
      target.record.forgetProgress()
      target.record.snapshotVersion = version
    }
    for key in members { edits.update(key) { $0.targets.note(id, isEntry: true) } }
    targets.put(target)
    storeEdits()
    if !isActive { targets.remove(id, isDetached: isDetached) }
  }
}
