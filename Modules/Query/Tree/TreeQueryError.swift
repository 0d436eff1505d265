public import TernCore

/// The reason a query cannot be refined that way. All are mistakes of the caller.
///
/// Source: realtime reference, section 3.2.
public enum TreeQueryError: Error, Hashable, Sendable {
  /// The query already has an order.
  case orderAlreadySet
  /// The query already has a start; `equal(to:)` sets one.
  case startAlreadySet
  /// The query already has an end; `equal(to:)` sets one.
  case endAlreadySet
  /// The query already has a limit; first and last exclude each other.
  case limitAlreadySet
  /// A limit is not in 1..<2^31.
  case limitOutOfRange(Int)
  /// A range over keys needs strings as bounds.
  case keyBoundNotString
  /// A range over keys takes no separate key.
  case keyBoundWithKey
  /// A range over priorities needs null, strings or finite numbers as bounds.
  case invalidPriorityBound
  /// A bound is a server value or a number that is not finite.
  case invalidBound
  /// `$key`, `$priority` and `$value` have orders of their own.
  case reservedChildPath(String)
  /// An order by child needs a path of at least one segment.
  case emptyChildPath
  /// A path or a key breaks a rule of the tree.
  case tree(TreeError)
}
