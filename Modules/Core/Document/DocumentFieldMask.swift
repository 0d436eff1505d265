/// The fields a write touches: paths, none of which leads into another's place twice.
///
/// An empty mask touches no field. Source: documents reference, section 3.1.
public struct DocumentFieldMask: Hashable, Sendable {
  /// The paths, ascending, each once.
  public let paths: [DocumentFieldPath]

  /// No field at all.
  public static let empty = DocumentFieldMask([])

  /// Makes a mask; a path that occurs twice is kept once.
  public init(_ paths: some Sequence<DocumentFieldPath>) {
    var sorted: [DocumentFieldPath] = []
    for path in paths.sorted() where sorted.last != path { sorted.append(path) }
    self.paths = sorted
  }

  /// Returns true when a path, or one above it, is in the mask.
  public func covers(_ path: DocumentFieldPath) -> Bool {
    paths.contains { $0.contains(path) }
  }

  /// The fields of both masks.
  public func union(_ other: some Sequence<DocumentFieldPath>) -> DocumentFieldMask {
    DocumentFieldMask(paths + Array(other))
  }

  /// The fields of the mask, each with its value in `fields`; a field without one is removed.
  func apply(_ fields: DocumentMap, to map: inout DocumentMap) {
    map = map.replacing(paths.drop { $0.names.isEmpty }, at: 0, from: fields)
  }

  /// Only those fields of a map that the mask names.
  ///
  /// Paths into what is not a map name nothing.
  ///
  /// - Complexity: O(*n* log *m*), where *n* is the smaller and *m* the larger of the numbers of
  ///   paths and of fields.
  package func projection(of map: DocumentMap) -> DocumentMap {
    map.projected(paths.drop { $0.names.isEmpty }, at: 0)
  }

  /// - Throws: ``DocumentError/overlappingFields(_:_:)`` when one path is or contains another.
  static func checkDisjoint(_ paths: [DocumentFieldPath]) throws(DocumentError) {
    let sorted = paths.sorted()
    // What lies below a path follows it directly in order.
    for (path, next) in zip(sorted, sorted.dropFirst()) where path.contains(next) {
      throw .overlappingFields(path, next)
    }
  }
}
