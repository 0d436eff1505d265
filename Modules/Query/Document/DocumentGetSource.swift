/// The source of a single read's answer. Source: documents reference, section 4.6.
public enum DocumentGetSource: Hashable, Sendable {
  /// The server, and the cache when the server cannot be reached.
  case serverOrCache
  /// The server only.
  case server
  /// The cache only.
  case cache
}
