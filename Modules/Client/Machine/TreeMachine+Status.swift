package import TernCore
package import TernQuery
package import TernStorage
import TernSync
package import TernTreeReplica
import TernTreeWire

// What may be asked without changing anything, and the small switches.

extension TreeMachine {
  /// Returns true when events of this link are still wanted.
  package func isCurrentLink(_ number: Int) -> Bool { connection.isCurrent(number) }

  /// Pending writes in the order they were made, and rejected ones in the order of their rows.
  package var queueStatus: TreeQueueStatus {
    TreeQueueStatus(pending: book.writes.list, rejected: book.rejected)
  }

  /// A query's result as listeners have it, with what is known about it.
  package func snapshot(at path: TreePath, query: TreeQuery) -> TreeSnapshot {
    if path.isInfo {
      return TreeSnapshot(path: path, node: info.value(at: path, query: query), query: query)
    }
    let state = replica.state(at: path, query: query)
    return TreeSnapshot(
      path: path, node: state?.node ?? .empty, query: query,
      isComplete: state?.isComplete ?? false, isFromCache: state?.isFromCache ?? true,
      hasPendingWrites: state?.hasPendingWrites ?? false)
  }

  /// Returns the data of a query's listeners, with its metadata; `nil` without listeners.
  package func viewState(at path: TreePath, query: TreeQuery) -> ViewState? {
    replica.state(at: path, query: query)
  }

  /// The pending writes that listeners see, oldest first, with server values as estimated here.
  package var visibleWrites: [TreeWrite] { replica.overlay.visibleWrites }

  /// Writes and other ordered requests on their way without an answer; at most the window.
  package var unansweredWrites: Int { outbox.inFlightCount }

  /// Stores what the cache gathered, in one transaction. A cache that fails costs nothing but the
  /// data it would have kept.
  ///
  /// - Returns: Why it could not be stored, the first time.
  @discardableResult
  package mutating func storeCache() -> StorageError? {
    replica.evict()
    do throws(StorageError) {
      try replica.commitCache()
      return nil
    } catch {
      defer { cacheFailure = error }
      return cacheFailure == nil ? error : nil
    }
  }

  /// Ends the connection for good.
  package mutating func close() { connectionEvent(.interrupt(.closed)) }
}
