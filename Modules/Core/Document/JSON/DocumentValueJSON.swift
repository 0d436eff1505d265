/// Values of documents as JSON, in two forms that lose nothing.
///
/// Source: Docs/Formats/document-json.md.
package struct DocumentValueJSON: Sendable {
  /// The spelling of values.
  package enum Form: Sendable {
    /// Plain JSON, as written by hand. Types that JSON lacks are spelled as ``typed``, and so are
    /// maps that would be taken for one of those.
    case plain
    /// As REST spells them: each value is an object with one member, which names its type.
    case typed
  }

  let form: Form
  /// The database of references that name none.
  let database: DocumentDatabase

  package init(_ form: Form, in database: DocumentDatabase) {
    self.form = form
    self.database = database
  }

  /// The names of the types.
  enum Kind: String {
    case nullValue, booleanValue, integerValue, doubleValue, timestampValue, stringValue
    case bytesValue, referenceValue, geoPointValue, arrayValue, mapValue
  }

  /// A vector is a map with a mark. Source: documents reference, section 1.4.
  enum VectorMap {
    static let type = "__type__"
    static let mark = DocumentValue.string("__vector__")
    static let value = "value"
  }
}

// MARK: - Writing

extension DocumentValueJSON {
  /// Writes fields as an object.
  package func write(_ fields: DocumentMap, to writer: inout JSONWriter) {
    writer.beginObject()
    for entry in fields.entries {
      writer.key(entry.name)
      write(entry.value, to: &writer)
    }
    writer.endObject()
  }

  /// Writes a value; times that no server has set yet are null.
  ///
  /// Integers are strings in the typed form, because JSON numbers of many readers are doubles.
  package func write(_ value: DocumentValue, to writer: inout JSONWriter) {
    if form == .plain, writePlain(value, to: &writer) { return }
    switch value {
    case .null: write(.nullValue, to: &writer) { $0.null() }
    case .boolean(let flag): write(.booleanValue, to: &writer) { $0.bool(flag) }
    case .integer(let number): write(.integerValue, to: &writer) { $0.string("\(number)") }
    case .double(let number): write(.doubleValue, to: &writer) { write(number, to: &$0) }
    case .timestamp(let time):
      write(.timestampValue, to: &writer) { $0.string(TimestampText.text(of: time)) }
    case .string(let text): write(.stringValue, to: &writer) { $0.string(text) }
    case .bytes(let bytes):
      let text = String(decoding: Base64.encode(bytes), as: UTF8.self)
      write(.bytesValue, to: &writer) { $0.string(text) }
    case .reference(let name):
      write(.referenceValue, to: &writer) { $0.string(text(of: name)) }
    case .geoPoint(let point):
      write(.geoPointValue, to: &writer) { write(point, to: &$0) }
    case .array(let elements):
      write(.arrayValue, to: &writer) { writer in
        writer.beginObject()
        writer.key("values")
        write(elements, to: &writer)
        writer.endObject()
      }
    case .map(let map):
      write(.mapValue, to: &writer) { writer in
        writer.beginObject()
        writer.key("fields")
        write(map, to: &writer)
        writer.endObject()
      }
    case .vector(let numbers): write(Self.map(of: numbers), to: &writer)
    case .pendingTimestamp: write(.null, to: &writer)
    }
  }

  /// Writes what JSON has a type for; `false` for everything else.
  private func writePlain(_ value: DocumentValue, to writer: inout JSONWriter) -> Bool {
    switch value {
    case .null, .pendingTimestamp: writer.null()
    case .boolean(let flag): writer.bool(flag)
    case .integer(let number): writer.integer(number)
    case .double(let number) where number.isFinite: write(number, to: &writer)
    case .string(let text): writer.string(text)
    case .array(let elements): write(elements, to: &writer)
    case .map(let map) where !Self.looksTyped(map): write(map, to: &writer)
    case .double, .timestamp, .bytes, .reference, .geoPoint, .vector, .map: return false
    }
    return true
  }

  private func write(
    _ kind: Kind, to writer: inout JSONWriter, _ content: (inout JSONWriter) -> Void
  ) {
    writer.beginObject()
    writer.key(kind.rawValue)
    content(&writer)
    writer.endObject()
  }

  /// Doubles keep a point or an exponent, by which they differ from integers.
  private func write(_ number: Double, to writer: inout JSONWriter) {
    if number.isFinite { return writer.raw(number.description.utf8) }
    writer.string(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
  }

  private func write(_ point: DocumentGeoPoint, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("latitude")
    write(point.latitude, to: &writer)
    writer.key("longitude")
    write(point.longitude, to: &writer)
    writer.endObject()
  }

  private func write(_ elements: [DocumentValue], to writer: inout JSONWriter) {
    writer.beginArray()
    for element in elements { write(element, to: &writer) }
    writer.endArray()
  }

  private func text(of name: DocumentName) -> String {
    form == .plain && name.database == database ? name.key.text : name.resourceName
  }

  private static func map(of vector: [Double]) -> DocumentValue {
    .map([
      VectorMap.type: VectorMap.mark, VectorMap.value: .array(vector.map { .double($0) }),
    ])
  }

  /// Returns true for a map that a reader of the plain form would take for a typed value.
  private static func looksTyped(_ map: DocumentMap) -> Bool {
    map.count == 1 && Kind(rawValue: map.entries[0].name) != nil
  }
}
