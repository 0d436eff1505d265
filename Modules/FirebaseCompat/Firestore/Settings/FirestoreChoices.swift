package import Dispatch

/// The values of ``FirestoreSettings`` at their assignment.
package struct FirestoreChoices: Sendable {
  /// The default server: that of the app's configuration.
  package static let configuredHost = ""

  package var host = configuredHost
  package var isSSLEnabled = false
  /// True when a server is named, in the place of that of the configuration.
  var namesHost: Bool { host != Self.configuredHost }
  package var callbackQueue = DispatchQueue.main
  var cacheSettings: (any LocalCacheSettings)?
  var isPersistenceEnabled = true
  var cacheSizeBytes = FirestoreSettings.defaultCacheSizeBytes

  init() {}

  /// The cache that is meant.
  package struct Cache: Hashable, Sendable {
    /// True when it outlives the program.
    package var isPersistent: Bool
    /// The most bytes; `nil` for no limit.
    package var limitBytes: Int?
    /// True when unused documents are dropped at once.
    package var isEager = false
  }

  /// The cache that is meant.
  package var cache: Cache {
    switch cacheSettings {
    case let settings as PersistentCacheSettings:
      return Cache(isPersistent: true, limitBytes: Self.limit(settings.limitBytes))
    case let settings as MemoryCacheSettings:
      guard let collector = settings.collector as? MemoryLRUGCSettings else {
        return Cache(isPersistent: false, limitBytes: nil, isEager: true)
      }
      return Cache(isPersistent: false, limitBytes: Self.limit(collector.limitBytes))
    default:
      return Cache(isPersistent: isPersistenceEnabled, limitBytes: Self.limit(cacheSizeBytes))
    }
  }

  private static func limit(_ bytes: Int64) -> Int? {
    bytes == FirestoreCacheSizeUnlimited ? nil : Int(clamping: bytes)
  }

  /// Returns the name of the first setting that differs; `nil` when none does.
  func difference(from other: FirestoreChoices) -> String? {
    if host != other.host { return "host" }
    if isSSLEnabled != other.isSSLEnabled { return "isSSLEnabled" }
    if callbackQueue !== other.callbackQueue { return "dispatchQueue" }
    return cache == other.cache ? nil : "cacheSettings"
  }
}
