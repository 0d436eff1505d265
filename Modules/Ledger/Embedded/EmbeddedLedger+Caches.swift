public import TernStorage

extension EmbeddedLedger: PageCacheCounting {
  /// The lookups in the page cache of the store; `nil` for a store without one of its own.
  public var pageCache: CacheCounts? { (store as? any PageCacheCounting)?.pageCache }
}
