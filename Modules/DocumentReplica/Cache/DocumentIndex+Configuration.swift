import TernCore
import TernQuery

extension DocumentIndex {
  /// The indexes that a configuration names, in the form servers take it.
  ///
  /// Other members than `indexes` are ignored, as is the scope of an index: one index serves a
  /// collection and its group. Source: documents reference, section 5.11.
  static func configuration(_ json: String) throws(DocumentIndexError) -> [DocumentIndex] {
    let parsed: JSONValue
    do { parsed = try JSONValue(parsing: json) } catch { throw .malformed("no JSON") }
    guard case .object = parsed else { throw .malformed("not an object") }
    guard case .array(let entries) = parsed["indexes"] ?? .array([]) else {
      throw .malformed("\"indexes\" is not an array")
    }
    var indexes: [DocumentIndex] = []
    for entry in entries {
      guard let group = entry["collectionGroup"]?.text, !group.isEmpty,
        case .array(let fields) = entry["fields"]
      else { throw .malformed("an index needs \"collectionGroup\" and \"fields\"") }
      var segments: [Segment] = []
      for field in fields {
        if let segment = try segment(field) { segments.append(segment) }
      }
      if segments.isEmpty { throw .malformed("an index of \"\(group)\" has no fields") }
      if segments.filter({ $0.kind == .contains }).count > 1 {
        throw .malformed("an index of \"\(group)\" has several fields of elements")
      }
      let index = DocumentIndex(group: group, segments: segments)
      if !indexes.contains(index) { indexes.append(index) }
    }
    return indexes
  }

  /// One field; `nil` for the key, which every entry ends with anyway.
  private static func segment(_ field: JSONValue) throws(DocumentIndexError) -> Segment? {
    guard let text = field["fieldPath"]?.text else {
      throw .malformed("a field needs \"fieldPath\"")
    }
    if text == "__name__" { return nil }
    let path: DocumentFieldPath
    do throws(DocumentError) { path = try DocumentFieldPath(wire: text) } catch {
      throw .badField(text, error)
    }
    switch (field["order"]?.text, field["arrayConfig"]?.text) {
    case ("ASCENDING", nil), ("ASC", nil): return Segment(path, .ascending)
    case ("DESCENDING", nil), ("DESC", nil): return Segment(path, .descending)
    case (nil, "CONTAINS"): return Segment(path, .contains)
    default: throw .malformed("field \"\(text)\" needs \"order\" or \"arrayConfig\"")
    }
  }
}
