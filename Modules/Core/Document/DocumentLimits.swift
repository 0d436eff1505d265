/// The sizes documents may have. Source: documents reference, sections 1.2, 1.9 and 9.
public enum DocumentLimits {
  /// The most bytes of UTF-8 in the id of a project. Firebase's have at most 30.
  public static let projectIDBytes = 128

  /// The most bytes of UTF-8 in the id of a collection or a document.
  public static let idBytes = 1_500

  /// The most bytes of UTF-8 in the path of a document.
  public static let nameBytes = 6 * 1_024

  /// The most collections on the way to a document.
  public static let collectionDepth = 100

  /// The most bytes of UTF-8 in the name of one field.
  public static let fieldNameBytes = 1_500

  /// The most bytes of UTF-8 in a field path, as the wire spells it.
  public static let fieldPathBytes = 1_500

  /// The most bytes in one document, counted as ``Document/byteCount`` does: 1 MiB.
  public static let documentBytes = 1_048_576

  /// The most bytes in one string or one byte string.
  public static let valueBytes = 1_048_487

  /// The most maps and arrays around one value, the document itself not counted.
  public static let depth = 20

  /// The most dimensions of a vector.
  public static let vectorDimensions = 2_048

  /// The most field transforms of one write.
  public static let transforms = 500
}
