package import TernCore
package import TernQuery
package import TernStorage

/// The source of data for a cache, which decides the queries whose listeners hold it in memory.
package enum CacheSource: Sendable {
  /// A push for all listens that concern its path.
  case push
  /// A push for one filtered query alone.
  case listen(ListenRequest)
  /// A write of this client, or a one-shot read: no listener is told.
  case nobody
}

/// The durable cache of a replica's server data, for the next start.
///
/// Queries are normalized: one that loads all data is the default query. ``commit()`` stores all
/// gathered writes together, and reads include the gathered writes. The cache never returns corrupt
/// data: it drops unreadable rows, and the replica fetches them again.
package protocol ReplicaCache: Sendable {
  /// Returns the stored data of a query: its complete result, or the known children.
  mutating func load(_ query: TreeQuery, at path: TreePath) -> ServerCache

  /// Returns the stored node at a path if all of it is known: as a part of a complete result, or as
  /// a child in the window of a filtered query. Does not accept paths of priorities.
  mutating func known(at path: TreePath) -> TreeNode?

  /// Stores the server's data at a path.
  mutating func overwrite(_ node: TreeNode, at path: TreePath, from source: CacheSource)

  /// Takes in which children make up a filtered query's window.
  mutating func replaceWindow(of query: TreeQuery, at path: TreePath, keys: [TreeKey])

  /// Takes in which children came into or left a filtered query's window; their data comes by
  /// ``overwrite(_:at:from:)``. A child that left is dropped unless another query needs it.
  mutating func changeWindow(
    of query: TreeQuery, at path: TreePath, added: [TreeKey], removed: [TreeKey])

  /// Returns `true` if the stored data of a query may differ from its listeners' data in memory, so
  /// that the replica must store it again before it marks the query complete.
  func needsRewrite(_ query: TreeQuery, at path: TreePath) -> Bool

  /// Says that rows at `path` may differ from what listeners have in memory.
  mutating func markDisturbed(_ path: TreePath)

  /// Says that all data of a query was just stored again.
  mutating func markRewritten(_ query: TreeQuery, at path: TreePath)

  /// Marks that the server has confirmed the whole result of a query; not while it needs to be
  /// stored again.
  mutating func markComplete(_ query: TreeQuery, at path: TreePath)

  /// Marks whether a query is listened to; then it is not evicted.
  mutating func setActive(_ isActive: Bool, _ query: TreeQuery, at path: TreePath)

  /// Evicts the least recently used queries until the cache is within its limits.
  mutating func evict()

  /// Stores everything gathered since the last call in one storage transaction.
  mutating func commit() throws(StorageError)
}
