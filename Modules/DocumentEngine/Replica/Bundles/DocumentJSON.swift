import TernCore
import TernQuery

/// Reads documents and queries in the JSON spelling of the wire's messages.
///
/// Source: documents reference, sections 6.1 and 6.2.
struct DocumentJSON {
  /// The database that names must be of.
  let database: DocumentDatabase

  func key(_ name: String) -> DocumentKey? {
    guard let name = try? DocumentName(resourceName: name), name.database == database else {
      return nil
    }
    return name.key
  }

  func integer(_ value: JSONValue) -> Int64? {
    value.integer ?? value.text.flatMap { Int64($0) }
  }

  func double(_ value: JSONValue) -> Double? {
    switch value {
    case .integer(let number): return Double(number)
    case .double(let number): return number
    case .string("NaN"): return .nan
    case .string("Infinity"): return .infinity
    case .string("-Infinity"): return -.infinity
    case .string(let text): return Double(text)
    case .null, .bool, .array, .object: return nil
    }
  }

  /// A time, as text or as `{seconds, nanos}`, as a version.
  func version(_ value: JSONValue) -> DocumentVersion? {
    timestamp(value).map { DocumentVersion(microseconds: $0.microseconds) }
  }

  func timestamp(_ value: JSONValue) -> DocumentTimestamp? {
    if let text = value.text { return TimestampText.parse(text) }
    let seconds = value["seconds"].flatMap(integer) ?? 0
    let nanoseconds = value["nanos"].flatMap(integer) ?? 0
    return try? DocumentTimestamp(
      seconds: seconds, nanoseconds: Int32(clamping: nanoseconds))
  }

  func document(_ value: JSONValue) -> Document? {
    guard let key = value["name"]?.text.flatMap(key),
      let updated = value["updateTime"].flatMap(version),
      let fields = map(value["fields"] ?? .object([]))
    else { return nil }
    return Document(
      key, .found(DocumentFields(fields)), version: updated,
      created: value["createTime"].flatMap(version) ?? .none)
  }

  private func map(_ value: JSONValue) -> DocumentMap? {
    guard case .object(let members) = value else { return nil }
    var map = DocumentMap()
    for member in members {
      guard let field = self.value(member.value) else { return nil }
      map[member.name] = field
    }
    return map
  }

  /// One value; `nil` when it is none of the kinds there are.
  func value(_ json: JSONValue) -> DocumentValue? {
    guard case .object(let members) = json, members.count == 1, let member = members.first else {
      return nil
    }
    let content = member.value
    switch member.name {
    case "nullValue": return .null
    case "booleanValue": return content == .bool(true) ? true : false
    case "integerValue": return integer(content).map { .integer($0) }
    case "doubleValue": return double(content).map { .double($0) }
    case "timestampValue": return timestamp(content).map { .timestamp($0) }
    case "stringValue": return content.text.map { .string($0) }
    case "bytesValue": return content.text.flatMap(Base64.decode).map { .bytes($0) }
    case "referenceValue":
      return content.text.flatMap { try? .reference(DocumentName(resourceName: $0)) }
    case "geoPointValue": return geoPoint(content)
    case "arrayValue": return array(content)
    case "mapValue": return map(content["fields"] ?? .object([])).map(vectorOrMap)
    default: return nil
    }
  }

  private func geoPoint(_ value: JSONValue) -> DocumentValue? {
    let latitude = value["latitude"].flatMap(double) ?? 0
    let longitude = value["longitude"].flatMap(double) ?? 0
    return try? .geoPoint(DocumentGeoPoint(latitude: latitude, longitude: longitude))
  }

  private func array(_ value: JSONValue) -> DocumentValue? {
    guard case .array(let elements) = value["values"] ?? .array([]) else { return nil }
    let values = elements.compactMap(self.value)
    return values.count == elements.count ? .array(values) : nil
  }

  /// A vector travels as a map. Source: documents reference, section 1.4.
  private func vectorOrMap(_ map: DocumentMap) -> DocumentValue {
    guard map.count == 2, map["__type__"] == .string("__vector__"),
      case .array(let elements) = map["value"]
    else { return .map(map) }
    let numbers = elements.compactMap { element -> Double? in
      switch element {
      case .double(let number): number
      case .integer(let number): Double(number)
      default: nil
      }
    }
    return numbers.count == elements.count ? .vector(numbers) : .map(map)
  }
}
