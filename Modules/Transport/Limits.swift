/// The longest frame a transport carries.
public struct FrameLimit: Hashable, Sendable {
  /// The most bytes in one frame, 1...2^31 - 1.
  public let bytes: Int

  /// A limit of `bytes`, 1...2^31 - 1.
  public init(bytes: Int) {
    precondition((1...Int(Int32.max)).contains(bytes), "a frame limit is 1...2^31 - 1 bytes")
    self.bytes = bytes
  }

  /// 64 MiB: the largest write the tree accepts, escaped, with room for its envelope.
  public static let standard = FrameLimit(bytes: 64 << 20)
}

/// The thresholds of back-pressure; the same for every transport.
public enum LinkPressure {
  /// More queued bytes than this are pressure: 1 MiB.
  public static let highBytes = 1 << 20
  /// With this many queued bytes or fewer the pressure is over: 256 KiB.
  public static let lowBytes = 256 << 10
}
