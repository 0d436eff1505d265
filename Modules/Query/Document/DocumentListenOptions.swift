/// The events that a listener asks for. Source: documents reference, section 4.1.
public struct DocumentListenOptions: Hashable, Sendable {
  /// The source of a listener's data.
  public enum Source: Hashable, Sendable {
    /// The cache and the server.
    case server
    /// The cache alone: the server is never asked on behalf of this listener.
    case cache
  }

  /// True to receive events in which only metadata changed: pending writes, or data confirmed by
  /// the server.
  public var includesMetadata: Bool
  /// The source of the data.
  public var source: Source
  /// True to receive nothing before the server's data, unless the device is offline.
  package var waitsForServer = false

  /// Describes what a listener wants.
  public init(includesMetadata: Bool = false, source: Source = .server) {
    self.includesMetadata = includesMetadata
    self.source = source
  }
}
