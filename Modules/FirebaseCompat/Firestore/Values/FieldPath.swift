import TernCore

/// The way to a field, by names that may hold dots; a `String` in its place is split at its dots.
public final class FieldPath: Hashable, Sendable {
  let path: Result<DocumentFieldPath, DocumentError>

  /// The way through maps: the names of the outer ones first.
  ///
  /// A name that is none is told by the first operation that uses the path.
  public init(_ fieldNames: [String]) {
    path = Result { () throws(DocumentError) in try DocumentFieldPath(fieldNames) }
  }

  private init(_ path: DocumentFieldPath) { self.path = .success(path) }

  /// The key of a document, in place of a field.
  public static func documentID() -> FieldPath { FieldPath(.key) }

  public static func == (left: FieldPath, right: FieldPath) -> Bool { left.path == right.path }

  public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

extension DocumentFieldPath {
  /// A field that an application names: a ``FieldPath``, or names joined by dots.
  static func named(_ name: Any) throws(FirestoreArgumentError) -> DocumentFieldPath {
    if let path = name as? FieldPath {
      return try FirestoreArgumentError.naming { () throws(DocumentError) in try path.path.get() }
    }
    guard let text = name as? String else { throw .unsupportedKey("\(name)") }
    return try FirestoreArgumentError.naming { () throws(DocumentError) in
      try DocumentFieldPath(dotted: text)
    }
  }
}
