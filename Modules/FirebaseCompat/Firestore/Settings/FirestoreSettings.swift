public import Dispatch

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The size of a cache that never forgets.
public let FirestoreCacheSizeUnlimited: Int64 = -1

/// The settings that can be changed before the first use of a ``Firestore``; they take effect when
/// they are assigned to ``Firestore/settings``.
public final class FirestoreSettings {
  /// 100 MiB.
  static let defaultCacheSizeBytes: Int64 = 100 * 1024 * 1024
  /// 1 MiB.
  static let smallestCacheSizeBytes: Int64 = 1024 * 1024

  /// The server, as `name`, `name:port` or `[IPv6 address]:port`; the port is 9000 unless named.
  public var host: String
  /// True when the connection is encrypted: it is not, and asking for it is rejected.
  public var isSSLEnabled: Bool
  /// The queue on which listeners and completions are called; the main queue by default.
  public var dispatchQueue: DispatchQueue
  /// The kind of document cache; of several assignments the last one counts. When set, the two
  /// older settings below have no effect.
  public var cacheSettings: (any LocalCacheSettings)?
  /// True when documents and queued writes outlive the program; on unless set.
  public var isPersistenceEnabled: Bool
  /// The limit on the cache, in bytes: at least 1 MiB, or ``FirestoreCacheSizeUnlimited``.
  public var cacheSizeBytes: Int64

  /// The defaults.
  public convenience init() { self.init(FirestoreChoices()) }

  init(_ choices: FirestoreChoices) {
    host = choices.host
    isSSLEnabled = choices.isSSLEnabled
    dispatchQueue = choices.callbackQueue
    cacheSettings = choices.cacheSettings
    isPersistenceEnabled = choices.isPersistenceEnabled
    cacheSizeBytes = choices.cacheSizeBytes
  }

  /// A copy of what is chosen.
  var choices: FirestoreChoices {
    var choices = FirestoreChoices()
    choices.host = host
    choices.isSSLEnabled = isSSLEnabled
    choices.callbackQueue = dispatchQueue
    choices.cacheSettings = cacheSettings
    choices.isPersistenceEnabled = isPersistenceEnabled
    choices.cacheSizeBytes = cacheSizeBytes
    return choices
  }
}
