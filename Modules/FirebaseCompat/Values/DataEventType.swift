/// An event of the realtime tree for observers.
public enum DataEventType: Int, Sendable, CaseIterable {
  /// A child is there that was not, once for each child at first.
  case childAdded = 0
  /// A child is gone; the snapshot holds what it was.
  case childRemoved = 1
  /// Something at or below a child is different.
  case childChanged = 2
  /// A child's place in the order is different.
  case childMoved = 3
  /// The whole value, once it is known, and again when any of it changes.
  case value = 4
}

/// Names one registration of an observer.
public typealias DatabaseHandle = UInt
