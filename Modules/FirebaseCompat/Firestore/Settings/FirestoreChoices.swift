package import Dispatch

/// What ``FirestoreSettings`` held when they were assigned.
package struct FirestoreChoices: Sendable {
  /// The server that is meant when nobody names one: that of the app's configuration.
  package static let configuredHost = ""

  package var host = configuredHost
  package var isSSLEnabled = false
  /// Whether a server is named, in the place of that of the configuration.
  var namesHost: Bool { host != Self.configuredHost }
  package var callbackQueue = DispatchQueue.main
  var cacheSettings: (any LocalCacheSettings)?
  var isPersistenceEnabled = true
  var cacheSizeBytes = FirestoreSettings.defaultCacheSizeBytes

  init() {}

  /// The cache that is meant.
  package struct Cache: Hashable, Sendable {
    /// Whether it outlives the program.
    package var isPersistent: Bool
    /// The most bytes; `nil` for no limit.
    package var limitBytes: Int?
    /// Whether what nobody uses goes at once.
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

  /// What differs first, by the name of its setting; `nil` when nothing does.
  func difference(from other: FirestoreChoices) -> String? {
    if host != other.host { return "host" }
    if isSSLEnabled != other.isSSLEnabled { return "isSSLEnabled" }
    if callbackQueue !== other.callbackQueue { return "dispatchQueue" }
    return cache == other.cache ? nil : "cacheSettings"
  }
}
