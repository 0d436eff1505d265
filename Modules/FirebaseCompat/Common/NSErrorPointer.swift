#if !canImport(ObjectiveC)
  public import Foundation

  /// The place for the error that a closure ends with, since Foundation has no pointer for that
  /// here.
  public typealias NSErrorPointer = NSErrorPlace?

  /// A place for one error; written to as Foundation's pointer is on Apple's systems.
  public final class NSErrorPlace {
    /// The error.
    public var pointee: NSError?

    init() {}
  }
#endif
