/// The lookups in a cache since it was made.
public struct CacheCounts: Hashable, Sendable {
  /// Lookups that were answered from memory.
  public var hits: Int
  /// Lookups that were not.
  public var misses: Int

  /// Counts, of nothing unless given.
  public init(hits: Int = 0, misses: Int = 0) {
    self.hits = hits
    self.misses = misses
  }
}

/// A store, or what is built on one, that counts the lookups of pages in its own memory.
public protocol PageCacheCounting: Sendable {
  /// The lookups of pages since the store was opened, as far as their snapshots have ended; `nil`
  /// when there is no such cache.
  var pageCache: CacheCounts? { get }
}
