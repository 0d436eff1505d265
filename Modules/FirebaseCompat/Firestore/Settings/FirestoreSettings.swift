public import Dispatch

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The size of a cache that never forgets.
public let FirestoreCacheSizeUnlimited: Int64 = -1

/// What can be chosen before the first use of a ``Firestore``; takes effect when it is assigned to
/// ``Firestore/settings``.
public final class FirestoreSettings {
  /// 100 MiB.
  static let defaultCacheSizeBytes: Int64 = 100 * 1024 * 1024
  /// 1 MiB.
  static let smallestCacheSizeBytes: Int64 = 1024 * 1024

  /// The server, as `name` or `name:port`.
  public var host: String
  /// Whether the connection is encrypted: it is not, and to ask for it is refused.
  public var isSSLEnabled: Bool
  /// Where listeners and completions are called; the main queue by default.
  public var dispatchQueue: DispatchQueue
  /// Where documents are cached; of several assignments the last one counts. When set, the two
  /// older settings below count for nothing.
  public var cacheSettings: (any LocalCacheSettings)?
  /// Whether documents and queued writes outlive the program; on unless set.
  public var isPersistenceEnabled: Bool
  /// How much the cache holds, in bytes: at least 1 MiB, or ``FirestoreCacheSizeUnlimited``.
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
