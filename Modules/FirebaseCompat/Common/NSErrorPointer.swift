#if !canImport(ObjectiveC)
  public import Foundation

  /// Where a closure puts the error it ends with, where Foundation has no pointer for that.
  public typealias NSErrorPointer = NSErrorPlace?

  /// A place for one error; written to as Foundation's pointer is on Apple's systems.
  public final class NSErrorPlace {
    /// The error.
    public var pointee: NSError?

    init() {}
  }
#endif
