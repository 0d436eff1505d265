/// The way to a field: the names of the maps around it, from the outermost, and its own.
///
/// Paths are equal when the bytes of their names are; a path sorts before what lies below it.
/// Source: documents reference, section 1.3.
public struct DocumentFieldPath: Hashable, Sendable {
  /// The names, at least one, none empty.
  public let names: [String]

  /// The path `__name__`, which stands for the key of the document.
  public static let key = DocumentFieldPath(unchecked: ["__name__"])

  package init(unchecked names: [String]) { self.names = names.map(\.contiguous) }

  /// Makes a path of names, which may hold any character, dots included.
  ///
  /// - Throws: ``DocumentError/invalidFieldPath(_:)`` without names or with an empty one,
  ///   ``DocumentError/fieldPathTooLong(byteCount:limit:)``.
  public init(_ names: [String]) throws(DocumentError) {
    self.init(unchecked: names)
    if names.isEmpty || names.contains("") { throw .invalidFieldPath(text) }
    let count = text.utf8.count
    if count > DocumentLimits.fieldPathBytes {
      throw .fieldPathTooLong(byteCount: count, limit: DocumentLimits.fieldPathBytes)
    }
  }

  /// Splits what an application writes: names joined by dots, nothing quoted.
  ///
  /// - Throws: ``DocumentError/invalidFieldPath(_:)`` for an empty name or one of `~*/[]`,
  ///   ``DocumentError/fieldPathTooLong(byteCount:limit:)``.
  public init(dotted text: String) throws(DocumentError) {
    if text.utf8.contains(where: { "~*/[]".utf8.contains($0) }) { throw .invalidFieldPath(text) }
    let names = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    if names.contains("") { throw .invalidFieldPath(text) }
    try self.init(names)
  }

  /// The last name.
  public var last: String { names[names.count - 1] }

  /// True for ``key``.
  public var isKey: Bool { self == .key }

  /// The path one name shorter; `nil` when there is but one.
  public var parent: DocumentFieldPath? {
    names.count == 1 ? nil : DocumentFieldPath(unchecked: Array(names.dropLast()))
  }

  /// The path of a field in the map at this path.
  public func appending(_ name: String) -> DocumentFieldPath {
    DocumentFieldPath(unchecked: names + [name])
  }

  /// Returns true when `other` is this path or lies below it.
  public func contains(_ other: DocumentFieldPath) -> Bool {
    names.count <= other.names.count
      && zip(names, other.names).allSatisfy { $0.hasSameBytes(as: $1) }
  }

  public static func == (left: DocumentFieldPath, right: DocumentFieldPath) -> Bool {
    left.names.count == right.names.count && left.contains(right)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(names.count)
    for name in names { name.hashBytes(into: &hasher) }
  }
}

extension DocumentFieldPath: Comparable {
  public static func < (left: DocumentFieldPath, right: DocumentFieldPath) -> Bool {
    for (a, b) in zip(left.names, right.names) {
      let order = a.compareUTF8(b)
      if order != 0 { return order < 0 }
    }
    return left.names.count < right.names.count
  }
}
