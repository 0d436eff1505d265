package import TernCore
package import TernQuery
package import TernStorage

/// Where data for a cache comes from, which tells who knows of it in memory.
package enum CacheSource: Sendable {
  /// A push for all listens that concern its path.
  case push
  /// A push for one filtered query alone.
  case listen(ListenRequest)
  /// A write of this client, or a one-shot read: no listener is told.
  case nobody
}

/// Where a replica keeps the server's data for the next start.
///
/// Queries are normalised: one that loads all data is the default query. Writes are gathered, and
/// stored together by ``commit()``. Reading sees what was gathered. Damage is never handed out:
/// what cannot be read is forgotten, and so fetched again.
package protocol ReplicaCache: Sendable {
  /// What is stored for a query: complete, or the children that are known.
  mutating func load(_ query: TreeQuery, at path: TreePath) -> ServerCache

  /// What is stored at a path, when all of it is known: as a part of a complete result, or of a
  /// child that some filtered query had in its window. Not for priorities.
  mutating func known(at path: TreePath) -> TreeNode?

  /// Takes in the server's data at a path, for whoever reads there.
  mutating func overwrite(_ node: TreeNode, at path: TreePath, from source: CacheSource)

  /// Takes in which children make up a filtered query's window.
  mutating func replaceWindow(of query: TreeQuery, at path: TreePath, keys: [TreeKey])

  /// Takes in which children came into or left a filtered query's window; their data comes by
  /// ``overwrite(_:at:from:)``. A child that left is dropped unless another query needs it.
  mutating func changeWindow(
    of query: TreeQuery, at path: TreePath, added: [TreeKey], removed: [TreeKey])

  /// Whether the stored data of a query may differ from what its listeners have in memory, so that
  /// it has to be stored again before it can be called complete.
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

  /// Makes room: forgets the queries that nobody used for the longest time.
  mutating func evict()

  /// Stores everything gathered since the last call in one storage transaction.
  mutating func commit() throws(StorageError)
}
