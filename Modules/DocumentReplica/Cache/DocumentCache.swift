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

  package let settings: Settings
  /// The server's state of documents, and the results of targets.
  var stored: BaseCache
  var pending: PendingWrites
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
    self.settings = settings
    stored = try BaseCache(CacheRows(store, prefix: prefix, hotBytes: settings.hotBytes))
    pending = PendingWrites(user: user, batches: batches)
    showAll(pending.keys)
  }

  /// The version of the last event of a server; versions of events never go back.
  package var lastSnapshotVersion: DocumentVersion { stored.rows.head.lastSnapshot }

  /// The bytes of the documents' and the mappings' keys and values.
  package var byteCount: Int { stored.rows.head.byteCount }

  /// A document as it is shown: pending writes over what the server has.
  ///
  /// - Returns: An invalid document when nothing is known of it.
  package mutating func document(_ key: DocumentKey) -> Document {
    pending.shown[key] ?? stored.base(key).document
  }

  /// Returns `true` if a view or a pending write needs a document.
  private func isPinned(_ key: DocumentKey) -> Bool {
    pending.holds(key) || stored.targets.shows(key)
  }

  /// Ends a turn: stores everything gathered since the last call in one storage transaction.
  ///
  /// An eager cache drops the documents that are no longer needed.
  ///
  /// - Throws: The error of this commit, or of a read since the last call. The gathered changes
  ///   stay, and the next call stores them.
  package mutating func commit() throws(StorageError) {
    let leaving: Set<DocumentKey> =
      settings.isEager ? stored.candidates.filter { !isPinned($0) } : []
    stored.storeEdits(endingTurn: true, dropping: leaving)
    if let failure = stored.takeFailure() { throw failure }
  }

  /// Forgets everything that is stored, and in memory what came from there.
  ///
  /// Pending writes stay: they are the queue's. Where the store keeps freed space as it is, old
  /// bytes remain in its files until they are written over; wipe the store to be rid of them.
  package mutating func clearAll() throws(StorageError) {
    try stored.clear()
    showAll(pending.keys)
  }
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
