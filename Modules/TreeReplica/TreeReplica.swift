import TernCore
import TernQuery
package import TernStorage

/// The client's side of the tree: what the server said, what is pending, and who listens to what.
///
/// A value without I/O, time or chance: each call takes what happened and returns what is owed.
/// Only the cache it was given reads and writes a store, see ``ReplicaCache``; call
/// ``commitCache()`` after each batch of calls. A session that follows three rules gets views that
/// equal the query over the server's state with the pending writes applied, at every event:
/// starts are sent before stops; what the server pushes is applied in the order it came; and a
/// write is acknowledged after the pushes that came before its ack.
package struct TreeReplica: Sendable {
  var tree = SyncTree()
  var places: [RegistrationID: (path: TreePath, query: TreeQuery)] = [:]
  var keepers: [ListenRequest: RegistrationID] = [:]
  var ending = PendingUnlistens()
  var kept: KeptData
  /// The pending writes.
  package internal(set) var overlay = Overlay()
  /// The places that writes touched since ``beginWriteGroup()``; `nil` outside a group.
  var grouped: PathTrie<TreeNode>?
  private var lastRegistration: UInt64 = 0
  private var nextWrite: WriteID

  /// Makes a replica that knows nothing but what is in `cache`.
  ///
  /// - Parameter firstWrite: The id of the first write; above those of earlier writes that may
  ///   still be named, such as those restored from a queue.
  package init(cache: (any ReplicaCache)? = nil, firstWrite: WriteID = WriteID(0)) {
    kept = KeptData(cache: cache)
    nextWrite = firstWrite
  }

  /// Stores everything the calls since the last one want to keep, in one storage transaction; then
  /// makes room if the cache is over its budget.
  ///
  /// - Throws: What the store threw, also for reads since then. The replica itself is not affected.
  package mutating func commitCache() throws(StorageError) {
    try kept.cache?.commit()
    evict()
  }

  /// Makes room in the cache if it is over its budget; active queries are never evicted. O(1) when
  /// it is not.
  package mutating func evict() {
    kept.cache?.evict()
  }

  mutating func makeRegistrationID() -> RegistrationID {
    lastRegistration += 1
    return RegistrationID(lastRegistration)
  }

  /// The next id, or a known one; later ones will be above both.
  mutating func makeWriteID(_ known: WriteID?) -> WriteID {
    let id = known ?? nextWrite
    nextWrite = max(nextWrite, WriteID(id.number + 1))
    return id
  }
}
