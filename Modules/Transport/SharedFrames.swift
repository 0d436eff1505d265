import Synchronization

/// Frames that go to many links, put into a transport's own form once for all of them.
public final class SharedFrames: Sendable {
  /// The frames, in order.
  public let frames: [[UInt8]]
  private let form = Mutex<(any Sendable)?>(nil)

  /// Frames to be sent to any number of links.
  public init(_ frames: [[UInt8]]) { self.frames = frames }

  /// What a transport makes of the frames; made at the first call, and kept.
  ///
  /// - Parameter make: Must not depend on the link.
  public func form<Form: Sendable>(_ make: ([[UInt8]]) -> Form) -> Form {
    form.withLock { form in
      if let made = form as? Form { return made }
      let made = make(frames)
      form = made
      return made
    }
  }
}
