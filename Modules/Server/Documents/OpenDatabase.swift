import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernStorage

/// One database of documents: what is stored, and who watches it.
///
/// It lives and is used inside the machine only. Stored state is reached through ``authority``;
/// everything else here is lost when the database is forgotten, and so must be empty or unused by
/// then.
final class OpenDatabase {
  let names: DocumentNames
  let authority: DocumentAuthority
  let watch: DocumentWatch
  /// The time by which the database is read.
  private var clock = DocumentClock()
  var transactions = DocumentTransactions()
  /// The documents that the permission of targets rests on.
  var dependencies = ListenDependencies()
  /// The number of calls about it. While there are any there is one database of the database: what
  /// is written in one is told to those who watch in it.
  var callCount = 0
  /// Bodies that were encoded in this batch, for the next who begins to watch the same.
  ///
  /// Emptied at each commit and at the end of each batch.
  var bodies: [WatchBodyID: [DocumentPush]] = [:]
  /// The first snapshots of targets that are read ahead.
  var prefetches = PendingPrefetches()
  /// The position at which sweeping continues; 0 at the beginning.
  var sweptTo: UInt32 = 0

  var name: DocumentDatabase { authority.rows.database }

  /// The memory charged to the client that uses it, or was the first of those; `nil` for none.
  var charge: ListenCharge?

  init(_ database: DocumentDatabase, in reader: any StoreReader) throws(StorageError) {
    names = DocumentNames(database)
    authority = DocumentAuthority(
      rows: DocumentRows(prefix: StoreLayout.documents(database), database: database))
    watch = DocumentWatch(authority)
    clock.note(try authority.lastVersion(in: reader))
  }

  /// True while a client relies on the part of it that is in memory alone.
  var isUsed: Bool { callCount > 0 || transactions.count > 0 }

  /// Releases what is charged for it, when nothing uses it.
  func releaseUnused() { if !isUsed { charge = nil } }

  /// The time of a reading: as of then everything committed is seen.
  var readTime: DocumentVersion { clock.reading }

  /// Ends a target.
  func unlisten(_ target: Int32, on stream: Int) {
    watch.unlisten(target, on: stream)
    dependencies.remove(WatchSubscriber(stream: stream, target: target))
  }

  /// Ends all targets of a stream.
  func closeStream(_ stream: Int) {
    if !dependencies.isEmpty {
      for target in watch.targets(of: stream).keys {
        dependencies.remove(WatchSubscriber(stream: stream, target: target))
      }
    }
    watch.closeStream(stream)
  }

  /// Takes note of a commit.
  func note(_ version: DocumentVersion) { clock.note(version) }
}
