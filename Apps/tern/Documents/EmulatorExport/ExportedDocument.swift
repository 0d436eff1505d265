import TernCore

/// A document of an export, as a line that `tern doc import` reads.
///
/// Exports hold entities as the service's predecessor had them: a key with a path, and properties.
/// Source: `entity.proto` of the App Engine SDK.
struct ExportedDocument {
  /// `{"path": "cities/SF", "fields": {…}}`, every value with its type.
  let line: [UInt8]

  /// Reads an entity.
  ///
  /// - Parameter database: The database that references are to name.
  init(_ record: [UInt8], for database: DocumentDatabase) throws(Failure) {
    let entity = try Entity(record[...], database, depth: 0)
    guard let path = entity.path else {
      throw Failure(.usage, "the export holds an entity without a key")
    }
    line =
      JSONValue.object([
        .init("path", .string(path)), .init("fields", .object(entity.fields)),
      ]).bytes
  }
}

/// One entity: a document, or a map in one.
private struct Entity {
  private(set) var path: String?
  private(set) var fields: [JSONValue.Member] = []

  private let database: DocumentDatabase
  private let depth: Int

  /// The most maps in one another.
  private static let depthLimit = 50

  private static let damaged = Failure(.usage, "the export holds an entity that is no document")

  init(
    _ bytes: ArraySlice<UInt8>, _ database: DocumentDatabase, depth: Int
  ) throws(Failure) {
    guard depth <= Self.depthLimit else { throw Self.damaged }
    self.database = database
    self.depth = depth
    var reader = EntityReader(bytes)
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (13, .bytes(let key)): path = try Self.path(key)
      case (14, .bytes(let property)), (15, .bytes(let property)): try add(property)
      default: break
      }
    }
  }

  /// The path of a key: kinds and names, in turns.
  private static func path(_ key: ArraySlice<UInt8>) throws(Failure) -> String? {
    var reader = EntityReader(key)
    while let (field, value) = try reader.next() {
      if field == 14, case .bytes(let path) = value { return try segments(path, of: 1, kind: 2) }
    }
    return nil
  }

  /// Returns the segments of a path whose elements are groups: a kind, then a number or a name.
  private static func segments(
    _ bytes: ArraySlice<UInt8>, of element: Int, kind: Int
  ) throws(Failure) -> String? {
    var segments: [String] = []
    var reader = EntityReader(bytes)
    while let (field, value) = try reader.next() {
      guard field == element, case .group(let group) = value else { continue }
      var parts = EntityReader(group)
      while let (field, value) = try parts.next() {
        switch (field, value) {
        case (kind, .bytes(let text)), (kind + 2, .bytes(let text)):
          segments.append(String(decoding: text, as: UTF8.self))
        // Ids that are numbers have this form in the service.
        case (kind + 1, .number(let id)): segments.append("__id\(Int64(bitPattern: id))__")
        default: break
        }
      }
    }
    return segments.isEmpty ? nil : segments.joined(separator: "/")
  }

  /// The meaning of a property's value, where its type does not tell.
  private enum Meaning: UInt64 {
    case time = 7
    case point = 9
    case blob = 14
    case text = 15
    case bytes = 16
    case entity = 19
    case emptyList = 24
  }

  private mutating func add(_ property: ArraySlice<UInt8>) throws(Failure) {
    var (name, meaning, isElement) = ("", UInt64(0), false)
    var bytes: ArraySlice<UInt8> = []
    var reader = EntityReader(property)
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (1, .number(let number)): meaning = number
      case (3, .bytes(let text)): name = String(decoding: text, as: UTF8.self)
      case (4, .number(let flag)): isElement = flag != 0
      case (5, .bytes(let value)): bytes = value
      default: break
      }
    }
    let kind = Meaning(rawValue: meaning)
    if kind == .emptyList {
      fields.append(.init(name, Self.tagged("arrayValue", .object([]))))
      return
    }
    let value = try self.value(bytes, kind)
    guard isElement else { return fields.append(.init(name, value)) }
    let index = fields.firstIndex { $0.name.hasSameBytes(as: name) }
    var elements: [JSONValue] = []
    if let index, case .array(let known)? = fields[index].value["arrayValue"]?["values"] {
      elements = known
    }
    let list = Self.tagged("arrayValue", Self.tagged("values", .array(elements + [value])))
    if let index {
      fields[index] = .init(name, list)
    } else {
      fields.append(.init(name, list))
    }
  }

  private static func tagged(_ name: String, _ value: JSONValue) -> JSONValue {
    .object([.init(name, value)])
  }

  private func value(
    _ bytes: ArraySlice<UInt8>, _ meaning: Meaning?
  ) throws(Failure) -> JSONValue {
    var reader = EntityReader(bytes)
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (1, .number(let bits)):
        let number = Int64(bitPattern: bits)
        guard meaning == .time else { return Self.tagged("integerValue", .string("\(number)")) }
        let time = DocumentTimestamp(uncheckedMicroseconds: number)
        return Self.tagged("timestampValue", .string(TimestampText.text(of: time)))
      case (2, .number(let flag)): return Self.tagged("booleanValue", .bool(flag != 0))
      case (3, .bytes(let text)): return try self.text(text, meaning)
      case (4, .bits(let bits)):
        let number = Double(bitPattern: bits)
        return Self.tagged(
          "doubleValue", number.isFinite ? .double(number) : .string(Self.name(of: number)))
      case (5, .group(let point)): return try Self.point(point)
      case (12, .group(let reference)):
        guard let path = try Self.segments(reference, of: 14, kind: 15) else {
          throw Self.damaged
        }
        let name = "\(database.resourceName)/documents/\(path)"
        return Self.tagged("referenceValue", .string(name))
      default: break
      }
    }
    return Self.tagged("nullValue", .null)
  }

  private static func name(of number: Double) -> String {
    number.isNaN ? "NaN" : number > 0 ? "Infinity" : "-Infinity"
  }

  private func text(
    _ bytes: ArraySlice<UInt8>, _ meaning: Meaning?
  ) throws(Failure) -> JSONValue {
    switch meaning {
    case .blob, .bytes:
      let text = String(decoding: Base64.encode(Array(bytes)), as: UTF8.self)
      return Self.tagged("bytesValue", .string(text))
    case .entity:
      let map = try Entity(bytes, database, depth: depth + 1)
      return Self.tagged("mapValue", Self.tagged("fields", .object(map.fields)))
    default: return Self.tagged("stringValue", .string(String(decoding: bytes, as: UTF8.self)))
    }
  }

  private static func point(_ bytes: ArraySlice<UInt8>) throws(Failure) -> JSONValue {
    var (latitude, longitude) = (0.0, 0.0)
    var reader = EntityReader(bytes)
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (6, .bits(let bits)): latitude = Double(bitPattern: bits)
      case (7, .bits(let bits)): longitude = Double(bitPattern: bits)
      default: break
      }
    }
    return tagged(
      "geoPointValue",
      .object([.init("latitude", .double(latitude)), .init("longitude", .double(longitude))]))
  }
}
