#if !canImport(ObjectiveC)
  public import Foundation

  /// Where a closure puts the error it ends with; Foundation has this type on Apple's systems.
  public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif
