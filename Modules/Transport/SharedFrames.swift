import Synchronization

/// Frames that go to many links, put into a transport's own form once for all of them.
public final class SharedFrames: Sendable {
  /// The frames, in order.
  public let frames: [[UInt8]]
  /// One for each kind of transport the frames go over. Classes, because to ask for the type of an
  /// object is cheaper than for that of any value.
  private let made = Mutex<[any AnyObject & Sendable]>([])

  private final class Made<Form: Sendable>: Sendable {
    let form: Form

    init(_ form: Form) { self.form = form }
  }

  /// Frames to be sent to any number of links.
  public init(_ frames: [[UInt8]]) { self.frames = frames }

  /// Returns a transport's own form of the frames, which is made at the first call and kept.
  ///
  /// - Parameter make: Must not depend on the link.
  public func form<Form: Sendable>(_ make: ([[UInt8]]) -> Form) -> Form {
    made.withLock { made in
      for known in made {
        if let known = known as? Made<Form> { return known.form }
      }
      let new = Made(make(frames))
      made.append(new)
      return new.form
    }
  }
}
