import TernDocumentReplica
import TernStorage

/// The keeping of the cache of documents: its commits, its eviction, and its indexes.
/// Source: documents reference, section 5.2.
struct DocumentCacheUpkeep: Sendable {
  private static let firstEviction: Duration = .seconds(60)
  private static let eviction: Duration = .seconds(300)
  private static let firstIndexing: Duration = .seconds(15)
  private static let indexing: Duration = .seconds(60)
  /// The same while there is more to index: a large cache is indexed within minutes, not hours.
  private static let busyIndexing: Duration = .seconds(1)
  /// The most documents that are indexed in one go.
  private static let indexedDocuments = 500

  /// The reason the cache could not be opened, or last could not be stored; `nil` while it is well.
  var failure: StorageError?
  /// True when the cache has failed: the device works on without keeping.
  private(set) var hasStopped = false
  /// True when the queues of all users were read.
  private var knowsAllUsers = false

  func start(_ channel: inout DocumentChannel) {
    channel.emit(.startTimer(.evict, Self.firstEviction))
    channel.emit(.startTimer(.index, Self.firstIndexing))
  }

  func stop(_ channel: inout DocumentChannel) {
    channel.emit(.stopTimer(.evict))
    channel.emit(.stopTimer(.index))
  }

  /// Keeps what the server has told.
  ///
  /// - Returns: Why it could not be kept.
  mutating func store(_ replica: inout DocumentReplica) -> StorageError? {
    do throws(StorageError) {
      try replica.commit()
      return nil
    } catch {
      hasStopped = true
      failure = error
      return error
    }
  }

  /// Makes room in the cache, if it is too large.
  func evict(_ replica: inout DocumentReplica, _ channel: inout DocumentChannel) {
    // What others have written and not sent must stay cached.
    if knowsAllUsers { _ = replica.cache.evict() } else { channel.emit(.findOthers) }
    channel.emit(.startTimer(.evict, Self.eviction))
  }

  /// Notes that the queues of all users are being read.
  mutating func foundOthers() { knowsAllUsers = true }

  /// Goes on with indexes.
  func index(_ replica: inout DocumentReplica, _ channel: inout DocumentChannel) {
    let count = replica.cache.backfillIndexes(limit: Self.indexedDocuments)
    let isBusy = count >= Self.indexedDocuments
    channel.emit(.startTimer(.index, isBusy ? Self.busyIndexing : Self.indexing))
  }
}
