/// What a listener wants to hear. Source: documents reference, section 4.1.
public struct DocumentListenOptions: Hashable, Sendable {
  /// Where a listener's data comes from.
  public enum Source: Hashable, Sendable {
    /// The cache and the server.
    case server
    /// The cache alone: the server is never asked on behalf of this listener.
    case cache
  }

  /// Whether to hear when only metadata changed: pending writes, or whether data is the server's.
  public var includesMetadata: Bool
  /// Where the data comes from.
  public var source: Source
  /// Whether to hear nothing before the server's data, unless the device is offline.
  package var waitsForServer = false

  /// Describes what a listener wants.
  public init(includesMetadata: Bool = false, source: Source = .server) {
    self.includesMetadata = includesMetadata
    self.source = source
  }
}
