public import TernCore

/// The reason a value cannot be written; every case has the position in the value.
public enum DatabaseValueError: Error, Equatable, Sendable {
  /// Only strings, numbers, booleans, dictionaries, arrays, `NSNull` and `nil` can be stored.
  case unsupportedType(String, path: String)
  /// `.value` may only stand beside `.priority`, and holds no children.
  case valueWithChildren(path: String)
  /// `.sv` is `"timestamp"` or `{"increment": number}`.
  case unknownServerValue(path: String)
  /// A priority is a string, a finite number, a server value or `nil`.
  case invalidPriority(path: String)
  /// A key or value breaks a rule of the tree.
  case tree(TreeError, path: String)
}
