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
  /// How much is kept where.
  package struct Settings: Hashable, Sendable {
    /// The smallest limit: 1 MiB.
    package static let minimumBytes = 1 << 20
    /// What is kept unless said otherwise: 100 MiB.
    package static let defaultBytes = 100 << 20
    /// The memory for packed documents unless said otherwise: 64 MiB.
    package static let defaultHotBytes = 64 << 20

    /// From how many bytes on ``DocumentCache/evict(_:)`` forgets documents; `nil` for never.
    package var limitBytes: Int?
    /// The most memory for packed documents that are read again and again.
    package var hotBytes: Int
    /// Whether a document goes as soon as nobody needs it: for caches in memory.
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
  /// What is to be stored about documents.
  var edits: [DocumentKey: DocumentEdit] = [:]
  /// The targets somebody listens to.
  var targets: [Int32: ActiveTarget] = [:]
  /// Records of targets to be stored.
  var changedTargets: Set<Int32> = []
  /// Documents to look at when the turn ends: eager caches forget those nobody needs.
  var candidates: Set<DocumentKey> = []
  var indexes = IndexTable()
  /// Whether the head has to be stored although nothing else has.
  var hasNewHead = false
  /// What went wrong while reading; thrown by the next commit.
  var failure: StorageError?
  /// Whether the store cannot be read any more, so that everything is kept in memory.
  var isDetached = false
  /// The targets somebody listens to whose results were lost since ``takeLostTargets()``.
  var lostTargets: Set<Int32> = []
  /// Whether expensive queries get indexes of their own. Not stored.
  package var createsIndexes = false

  /// Opens the cache in a store; data of another format is dropped, for it can be fetched again.
  ///
  /// - Parameters:
  ///   - prefix: What all keys begin with; nobody else may use keys that begin so.
  ///   - user: Whose writes show; empty for nobody's.
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

  /// What is stored.
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

/// What is to be stored about one document.
struct DocumentEdit: Sendable {
  /// What the server has, and as of when it was heard; invalid when it is to be forgotten.
  var contents: (document: Document, readTime: DocumentVersion)?
  /// The targets whose result it came into, and those it left.
  var targets: [Int32: Bool] = [:]
  /// Whether it counts as used now.
  var isUsed = false
}

/// A target that somebody listens to.
struct ActiveTarget: Sendable {
  var record: DocumentTargetRecord
  /// The record as it is stored; `nil` before the first time.
  var stored: DocumentTargetRecord?
  /// The documents that its listeners see.
  var view: Set<DocumentKey> = []
}
