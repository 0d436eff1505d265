package import TernCore
import TernQuery
package import TernStorage
import TernSync

/// The documents on this device, in any ordered store, with pending writes laid over them.
///
/// Rows hold what the server said, never what is pending. Nothing is stored until ``commit()``;
/// then all of it in one transaction. A damaged record is never handed out: it is dropped, and
/// what can no longer be answered without it is fetched again.
/// Source: Docs/Formats/document-cache.md; documents reference, sections 5.3 to 5.13.
package struct DocumentCache: Sendable {
  /// Limits for the stored data and for the data in memory.
  package struct Settings: Hashable, Sendable {
    /// The smallest limit: 1 MiB.
    package static let minimumBytes = 1 << 20
    /// The default limit of stored data: 100 MiB.
    package static let defaultBytes = 100 << 20
    /// The default memory for packed documents: 64 MiB.
    package static let defaultHotBytes = 64 << 20

    /// The size in bytes from which ``DocumentCache/evict(_:)`` removes documents; `nil` for never.
    package var limitBytes: Int?
    /// The most memory for packed documents that are read again and again.
    package var hotBytes: Int
    /// `true` to drop a document as soon as it is not needed: for caches in memory.
    package var isEager: Bool

    package init(
      limitBytes: Int? = Settings.defaultBytes, hotBytes: Int = Settings.defaultHotBytes,
      isEager: Bool = false
    ) {
      precondition(
        limitBytes ?? Settings.minimumBytes >= Settings.minimumBytes,
        "a cache may hold at least 1 MiB")
      self.limitBytes = limitBytes
      self.hotBytes = hotBytes
      self.isEager = isEager
    }
  }

  /// The most damaged records dropped one by one; then the cache starts anew.
  static let repairLimit = 64
  /// The most gathered documents that queries look through before they are stored.
  static let editLimit = 1_000

  let store: any OrderedStore
  let keys: DocumentCacheKeys
  package let settings: Settings
  var head = CacheHead()
  var collections = CollectionTable()
  var hot: HotTable
  var pending: PendingWrites
  /// The unstored changes of documents.
  var edits: [DocumentKey: DocumentEdit] = [:]
  /// The targets with listeners.
  var targets: [Int32: ActiveTarget] = [:]
  /// The targets with unstored records.
  var changedTargets: Set<Int32> = []
  /// The documents that an eager cache checks when the turn ends, to drop those not needed.
  var candidates: Set<DocumentKey> = []
  var indexes = IndexTable()
  /// `true` if the head must be stored even without other changes.
  var hasNewHead = false
  /// The last read error; the next commit throws it.
  var failure: StorageError?
  /// `true` if the store is unreadable, so that all data stays in memory.
  var isDetached = false
  /// The targets with listeners whose results were lost since ``takeLostTargets()``.
  var lostTargets: Set<Int32> = []
  /// `true` to create indexes for expensive queries. Not stored.
  package var createsIndexes = false

  /// Opens the cache in a store. Data of another format is dropped, because the server has it.
  ///
  /// - Parameters:
  ///   - prefix: The prefix of all keys. No other user of the store may use keys that begin with
  ///     it.
  ///   - user: The user whose writes are visible; empty without a user.
  ///   - batches: The pending writes of all users, as the queue has them.
  /// - Complexity: O(pending writes + indexes), whatever the number of documents.
  package init(
    store: any OrderedStore, prefix: [UInt8], settings: Settings = Settings(),
    user: String = "", batches: [DocumentBatch] = []
  ) throws(StorageError) {
    self.store = store
    self.settings = settings
    keys = DocumentCacheKeys(prefix: prefix)
    hot = HotTable(limitBytes: settings.hotBytes)
    pending = PendingWrites(user: user, batches: batches)
    do throws(StorageError) {
      try readHead()
    } catch .corruptRecord {
      try reset()
    }
    showAll(pending.keys)
  }

  private mutating func readHead() throws(StorageError) {
    let keys = keys
    let stored = try store.read { snapshot throws(StorageError) in try snapshot.get(keys.head) }
    guard let stored, let head = CacheHead(record: stored) else { return try reset() }
    self.head = head
    self.head.sequence += 1
    indexes = try store.read { snapshot throws(StorageError) in
      try IndexTable.read(keys, in: snapshot)
    }
  }

  /// The version of the last event of a server; versions of events never go back.
  package var lastSnapshotVersion: DocumentVersion { head.lastSnapshot }

  /// The bytes of the documents' and the mappings' keys and values.
  package var byteCount: Int { head.byteCount }
}

/// The numbers that the whole cache shares. Source: Docs/Formats/document-cache.md, section 1.
struct CacheHead: Hashable, Sendable {
  var highestTarget: Int32 = 0
  var nextCollection: UInt64 = 1
  var nextIndex: UInt32 = 1
  /// Counts turns: the order in which things were used.
  var sequence: UInt64 = 1
  var lastSnapshot = DocumentVersion.none
  var byteCount = 0
  var documentCount = 0
  var orphanCount = 0
  var targetCount = 0

  /// More than any disk holds.
  private static let mostCounted: UInt64 = 1 << 56

  init() {}

  /// Reads a stored record; `nil` when it is none, or of another format.
  init?(record: [UInt8]) {
    var reader = RecordReader(record)
    guard reader.byte() == DocumentCacheKeys.version, let target: Int32 = reader.integer(),
      let collection: UInt64 = reader.integer(), let index: UInt32 = reader.integer(),
      let sequence: UInt64 = reader.integer(), let snapshot: Int64 = reader.integer(),
      let bytes: UInt64 = reader.integer(), let documents: UInt64 = reader.integer(),
      let orphans: UInt64 = reader.integer(), let targets: UInt64 = reader.integer(),
      reader.isAtEnd, target < .max - 1, collection < .max, index < .max, sequence < .max,
      [bytes, documents, orphans, targets].allSatisfy({ $0 < Self.mostCounted })
    else { return nil }
    highestTarget = target
    nextCollection = collection
    nextIndex = index
    self.sequence = sequence
    lastSnapshot = DocumentVersion(microseconds: snapshot)
    byteCount = Int(bytes)
    documentCount = Int(documents)
    orphanCount = Int(orphans)
    targetCount = Int(targets)
  }

  /// The stored form.
  var record: [UInt8] {
    var bytes = [DocumentCacheKeys.version]
    bytes.append(integer: highestTarget)
    bytes.append(integer: nextCollection)
    bytes.append(integer: nextIndex)
    bytes.append(integer: sequence)
    bytes.append(integer: lastSnapshot.microseconds)
    for count in [byteCount, documentCount, orphanCount, targetCount] {
      bytes.append(integer: UInt64(max(count, 0)))
    }
    return bytes
  }
}

/// The unstored change of one document.
struct DocumentEdit: Sendable {
  /// The server's state and its version; invalid when the document is to be removed.
  var contents: (document: Document, readTime: DocumentVersion)?
  /// The targets whose result it entered (`true`) or left (`false`).
  var targets: [Int32: Bool] = [:]
  /// `true` if the change counts as a use.
  var isUsed = false
}

/// A target with listeners.
struct ActiveTarget: Sendable {
  var record: DocumentTargetRecord
  /// The record as it is stored; `nil` before the first time.
  var stored: DocumentTargetRecord?
  /// The documents that its listeners see.
  var view: Set<DocumentKey> = []
}
