public import TernCore

/// The indexes that are declared for a database, as `firestore.indexes.json` has them.
///
/// The server's own queries need none. The catalog says which queries the service would reject.
/// Source: documents reference, section 5.11; Docs/Decisions/0040.
///
/// A catalog is immutable. Reading one checks its form; a field or collection that no document has
/// is no mistake.
public struct DocumentIndexCatalog: Hashable, Sendable {
  /// The form in which a field is kept.
  enum Kind: Hashable {
    case ascending, descending, contains
    /// Vectors of so many dimensions.
    case vector(Int)
  }

  /// One field of an index.
  struct Field: Hashable {
    let path: DocumentFieldPath
    let kind: Kind
  }

  /// An index over several fields of a collection, or of all collections of an id.
  struct Composite: Hashable {
    let collectionID: String
    let isGroup: Bool
    /// The fields; the key last, where it is not in the direction of the field before it.
    let fields: [Field]
  }

  /// An index of one field.
  struct Single: Hashable {
    let kind: Kind
    let isGroup: Bool
  }

  /// The field that an override is for; `nil` stands for all fields of a collection id.
  private struct Place: Hashable {
    let collectionID: ExactText
    let path: DocumentFieldPath?
  }

  let composites: [Composite]
  /// The indexes of fields whose default indexes a file replaces.
  private let overrides: [Place: Set<Single>]

  /// The indexes of a field without an override.
  private static let usual: Set<Single> = [
    Single(kind: .ascending, isGroup: false), Single(kind: .descending, isGroup: false),
    Single(kind: .contains, isGroup: false),
  ]

  /// The catalog of a database for which nothing is declared.
  public init() {
    composites = []
    overrides = [:]
  }

  /// Reads a `firestore.indexes.json`.
  ///
  /// - Throws: ``DocumentIndexError/malformed(_:)`` or ``DocumentIndexError/badField(_:_:)``.
  public init(_ text: [UInt8]) throws(DocumentIndexError) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: text)
    } catch {
      throw .malformed(error.description)
    }
    guard case .object = json else { throw .malformed("The file is no object.") }
    var composites: [Composite] = []
    for entry in try Self.list(json, "indexes") { composites.append(try Composite(entry)) }
    self.composites = composites
    var overrides: [Place: Set<Single>] = [:]
    for entry in try Self.list(json, "fieldOverrides") {
      let path = try Self.text(entry, "fieldPath")
      let place = Place(
        collectionID: ExactText(try Self.text(entry, "collectionGroup")),
        path: path == "*" ? nil : try Self.path(path))
      var singles: Set<Single> = []
      for index in try Self.list(entry, "indexes") {
        let isGroup = try Self.isGroup(index)
        singles.insert(Single(kind: try Kind(index), isGroup: isGroup))
      }
      overrides[place] = singles
    }
    self.overrides = overrides
  }

  /// Returns true when an index of the field alone is kept.
  ///
  /// An override of the field counts before one of all fields, and either before the default.
  func keeps(_ single: Single, of path: DocumentFieldPath, in collectionID: String) -> Bool {
    let id = ExactText(collectionID)
    let kept =
      overrides[Place(collectionID: id, path: path)]
      ?? overrides[Place(collectionID: id, path: nil)]
    return (kept ?? Self.usual).contains(single)
  }
}

// MARK: - Reading

extension DocumentIndexCatalog {
  /// Returns the entries of a list; a missing one is empty.
  fileprivate static func list(
    _ json: JSONValue, _ name: String
  ) throws(DocumentIndexError) -> [JSONValue] {
    switch json[name] {
    case nil, .null?: return []
    case .array(let entries)?: return entries
    default: throw .malformed("\(name) is no list.")
    }
  }

  fileprivate static func text(
    _ json: JSONValue, _ name: String
  ) throws(DocumentIndexError) -> String {
    guard let text = json[name]?.text else { throw .malformed("\(name) is missing.") }
    return text
  }

  /// Reads a field path in the spelling of index files.
  fileprivate static func path(_ text: String) throws(DocumentIndexError) -> DocumentFieldPath {
    if text == "__name__" { return .key }
    guard let names = names(of: text) else { throw .badField(text, .invalidFieldPath(text)) }
    do throws(DocumentError) { return try DocumentFieldPath(names) } catch {
      throw .badField(text, error)
    }
  }

  /// The names of a path; those in backquotes may hold any character, with a backslash before a
  /// backquote or backslash.
  ///
  /// - Returns: `nil` when a quote does not end.
  private static func names(of text: String) -> [String]? {
    var names = [String.UnicodeScalarView()]
    var (isQuoted, isEscaped) = (false, false)
    for scalar in text.unicodeScalars {
      switch scalar {
      case _ where isEscaped:
        names[names.count - 1].append(scalar)
        isEscaped = false
      case "\\" where isQuoted: isEscaped = true
      case "`": isQuoted.toggle()
      case "." where !isQuoted: names.append(.init())
      default: names[names.count - 1].append(scalar)
      }
    }
    return isQuoted ? nil : names.map { String($0) }
  }

  fileprivate static func isGroup(_ json: JSONValue) throws(DocumentIndexError) -> Bool {
    switch json["queryScope"]?.text {
    case nil, "COLLECTION": return false
    case "COLLECTION_GROUP": return true
    case let other?: throw .malformed("queryScope is COLLECTION or COLLECTION_GROUP, not \(other).")
    }
  }
}

extension DocumentIndexCatalog.Kind {
  fileprivate init(_ json: JSONValue) throws(DocumentIndexError) {
    switch (json["order"]?.text, json["arrayConfig"]?.text, json["vectorConfig"]) {
    case ("ASCENDING"?, nil, nil): self = .ascending
    case ("DESCENDING"?, nil, nil): self = .descending
    case (nil, "CONTAINS"?, nil): self = .contains
    case (nil, nil, let vector?):
      guard let dimension = vector["dimension"]?.integer else {
        throw .malformed("A vectorConfig has no dimension.")
      }
      self = .vector(Int(clamping: dimension))
    default:
      throw .malformed(
        "A field has one of order (ASCENDING, DESCENDING), arrayConfig (CONTAINS), vectorConfig.")
    }
  }
}

extension DocumentIndexCatalog.Composite {
  fileprivate init(_ json: JSONValue) throws(DocumentIndexError) {
    collectionID = try DocumentIndexCatalog.text(json, "collectionGroup")
    isGroup = try DocumentIndexCatalog.isGroup(json)
    var fields: [DocumentIndexCatalog.Field] = []
    for entry in try DocumentIndexCatalog.list(json, "fields") {
      let path = try DocumentIndexCatalog.path(try DocumentIndexCatalog.text(entry, "fieldPath"))
      fields.append(DocumentIndexCatalog.Field(path: path, kind: try .init(entry)))
    }
    guard let last = fields.last else { throw .malformed("An index has no fields.") }
    switch last.kind {
    case .ascending, .contains: fields.append(.init(path: .key, kind: .ascending))
    case .descending: fields.append(.init(path: .key, kind: .descending))
    case .vector: break
    }
    // A key that is named is the last field, in its own direction.
    if last.path.isKey { fields.removeLast() }
    self.fields = fields
  }
}
