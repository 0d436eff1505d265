public import TernTransport

/// Selects the loopback: both ends in one process, no port.
public enum LoopbackPlugin: TransportPlugin {
  /// The section of the configuration: `{"kind": "loopback", "frameLimitBytes": 67108864}`.
  public struct Options: Decodable, Sendable {
    /// The longest frame in bytes, 1...2^31 - 1; 64 MiB if it is left out.
    public var frameLimitBytes: Int?

    /// Options with the standard limit, or another one.
    public init(frameLimitBytes: Int? = nil) {
      self.frameLimitBytes = frameLimitBytes
    }
  }

  public static var kind: String { "loopback" }

  /// Each call opens a network of its own: a client and a server that are to meet share one
  /// transport.
  ///
  /// - Throws: `TransportError.invalidOption(name:reason:)` for a limit out of range.
  public static func open(_ options: Options) throws(TransportError) -> any Transport {
    guard let bytes = options.frameLimitBytes else { return LoopbackTransport() }
    guard (1...Int(Int32.max)).contains(bytes) else {
      throw .invalidOption(name: "frameLimitBytes", reason: "\(bytes) is not in 1...2^31 - 1")
    }
    return LoopbackTransport(limit: FrameLimit(bytes: bytes))
  }
}
