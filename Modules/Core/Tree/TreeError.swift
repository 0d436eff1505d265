/// A rule of the tree model that an argument breaks.
///
/// Every case is a mistake of the caller, found before anything changed: correct the argument.
/// Source: realtime reference, section 1.5.
public enum TreeError: Error, Hashable, Sendable {
  /// A key has no characters.
  case emptyKey
  /// A key holds `.`, `#`, `$`, `/`, `[`, `]` or an ASCII control character.
  case invalidKey(String)
  /// A key is longer than ``TreeLimits/keyBytes``.
  case keyTooLong(byteCount: Int, limit: Int)
  /// A value would lie deeper than ``TreeLimits/depth`` segments below the root.
  case tooDeep(count: Int, limit: Int)
  /// A string value is larger than ``TreeLimits/stringBytes``.
  case stringTooLong(byteCount: Int, limit: Int)
  /// A number is not a number, or infinite.
  case notFinite
  /// A priority is something else than a string, a finite number or a server value.
  case invalidPriority
  /// `.value` holds an object or an array, or stands beside real children.
  case invalidLeaf
  /// `.sv` holds neither `"timestamp"` nor an increment of a finite number.
  case invalidServerValue
  /// One path of an update equals or contains another.
  case overlappingPaths(TreePath, TreePath)
  /// The path, or a value at or below it, lies behind more bytes than ``TreeLimits/pathBytes``, or
  /// on a server ``TreeLimits/storedPathBytes``.
  case pathTooLong(TreePath, limitBytes: Int)
  /// The path lies below `.info`, which cannot be written.
  case readOnly(TreePath)
  /// The text is not JSON.
  case json(JSONError)
}
