public import Foundation

/// The kind of document cache: ``PersistentCacheSettings`` or ``MemoryCacheSettings``.
public protocol LocalCacheSettings: AnyObject, Sendable {}

/// A cache on disk, which outlives the program. The default.
public final class PersistentCacheSettings: LocalCacheSettings {
  let limitBytes: Int64

  /// A cache of 100 MiB.
  public init() { limitBytes = FirestoreSettings.defaultCacheSizeBytes }

  /// A cache of a size: at least 1 MiB, or ``FirestoreCacheSizeUnlimited``.
  public init(sizeBytes: NSNumber) { limitBytes = sizeBytes.int64Value }
}

/// A cache in memory, which is empty when the program starts.
public final class MemoryCacheSettings: LocalCacheSettings {
  let collector: any MemoryGarbageCollectorSettings

  /// Creates a cache that drops unused documents.
  public init() { collector = MemoryEagerGCSetting() }

  /// A cache that forgets as `garbageCollectorSettings` says.
  public init(garbageCollectorSettings: any MemoryGarbageCollectorSettings) {
    collector = garbageCollectorSettings
  }
}

/// The eviction of a cache in memory: ``MemoryEagerGCSetting`` or ``MemoryLRUGCSettings``.
public protocol MemoryGarbageCollectorSettings: AnyObject, Sendable {}

/// Forgets a document as soon as no listener and no pending write needs it.
public final class MemoryEagerGCSetting: MemoryGarbageCollectorSettings {
  /// There is nothing to choose.
  public init() {}
}

/// Forgets the documents that were not used for longest when the cache is too large.
public final class MemoryLRUGCSettings: MemoryGarbageCollectorSettings {
  let limitBytes: Int64

  /// A cache of 100 MiB.
  public init() { limitBytes = FirestoreSettings.defaultCacheSizeBytes }

  /// A cache of a size: at least 1 MiB, or ``FirestoreCacheSizeUnlimited``.
  public init(sizeBytes: NSNumber) { limitBytes = sizeBytes.int64Value }
}
