public import TernCore

/// The reason a configuration of indexes is invalid. Correct it.
public enum DocumentIndexError: Error, Hashable, Sendable {
  /// The text is no JSON or not of the shape of a configuration, or an index has too many fields;
  /// where and what.
  case malformed(String)
  /// A field path is none.
  case badField(String, DocumentError)
  /// More indexes than one cache may have.
  case tooMany(Int, limit: Int)
}
