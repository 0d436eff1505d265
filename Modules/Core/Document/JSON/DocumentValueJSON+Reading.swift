extension DocumentValueJSON {
  /// Reads the fields of a document; of fields with one name the last one stays.
  package func fields(_ json: JSONValue) throws(DocumentJSONError) -> DocumentMap {
    guard let map = try map(json, at: []) else { throw .notFields }
    return map
  }

  /// Reads one value.
  ///
  /// - Parameter place: The names of the fields it lies in, for errors.
  ///
  /// In the plain form, an object with one member that names a type is a typed value; every other
  /// object is a map.
  ///
  /// - Throws: ``DocumentJSONError``, with the names of the fields that lead to the mistake.
  package func value(
    _ json: JSONValue, at place: [String] = []
  ) throws(DocumentJSONError) -> DocumentValue {
    if case .object(let members) = json, members.count == 1,
      let kind = Kind(rawValue: members[0].name)
    {
      guard let value = try typed(kind, members[0].value, place) else {
        throw .malformed(type: kind.rawValue, at: place)
      }
      return value
    }
    guard form == .plain else { throw .untyped(at: place) }
    switch json {
    case .null: return .null
    case .bool(let flag): return .boolean(flag)
    case .integer(let number): return .integer(number)
    case .double(let number): return .double(number)
    case .string(let text): return .string(text)
    case .array(let elements): return .array(try values(elements, at: place))
    case .object: return Self.vectorOrMap(try map(json, at: place) ?? DocumentMap())
    }
  }

  private func map(
    _ json: JSONValue, at place: [String]
  ) throws(DocumentJSONError) -> DocumentMap? {
    guard case .object(let members) = json else { return nil }
    var map = DocumentMap()
    for member in members {
      map[member.name] = try value(member.value, at: place + [member.name])
    }
    return map
  }

  private func values(
    _ elements: [JSONValue], at place: [String]
  ) throws(DocumentJSONError) -> [DocumentValue] {
    var values: [DocumentValue] = []
    for element in elements { values.append(try value(element, at: place)) }
    return values
  }

  /// Reads the content under the name of a type; `nil` for content that is no value of it.
  private func typed(
    _ kind: Kind, _ content: JSONValue, _ place: [String]
  ) throws(DocumentJSONError) -> DocumentValue? {
    switch kind {
    case .nullValue: return content == .null || content == .string("NULL_VALUE") ? .null : nil
    case .booleanValue:
      guard case .bool(let flag) = content else { return nil }
      return .boolean(flag)
    case .integerValue: return integer(content).map { .integer($0) }
    case .doubleValue: return double(content).map { .double($0) }
    case .timestampValue: return timestamp(content).map { .timestamp($0) }
    case .stringValue: return content.text.map { .string($0) }
    case .bytesValue: return content.text.flatMap(Base64.decode).map { .bytes($0) }
    case .referenceValue: return content.text.flatMap(name).map { .reference($0) }
    case .geoPointValue: return geoPoint(content)
    case .arrayValue:
      guard case .object = content,
        case .array(let elements) = content["values"] ?? .array([])
      else { return nil }
      return .array(try values(elements, at: place))
    case .mapValue:
      guard case .object = content else { return nil }
      return try map(content["fields"] ?? .object([]), at: place).map(Self.vectorOrMap)
    }
  }
}

// MARK: - Scalars

extension DocumentValueJSON {
  /// A whole number, or the text of one.
  package func integer(_ json: JSONValue) -> Int64? {
    json.integer ?? json.text.flatMap { Int64($0) }
  }

  /// A time, as text or as `{seconds, nanos}`.
  package func timestamp(_ json: JSONValue) -> DocumentTimestamp? {
    if let text = json.text { return TimestampText.parse(text) }
    guard case .object = json, let seconds = integer(json["seconds"] ?? .integer(0)),
      let nanoseconds = integer(json["nanos"] ?? .integer(0))
    else { return nil }
    return try? DocumentTimestamp(seconds: seconds, nanoseconds: Int32(clamping: nanoseconds))
  }

  private static func isDecimal(_ byte: UInt8) -> Bool {
    "0123456789+-.eE".utf8.contains(byte)
  }

  private func double(_ json: JSONValue) -> Double? {
    switch json {
    case .integer(let number): Double(number)
    case .double(let number): number
    case .string("NaN"): .nan
    case .string("Infinity"): .infinity
    case .string("-Infinity"): -.infinity
    // Decimal numbers alone: hexadecimal ones and other words for infinity are no JSON.
    case .string(let text): text.utf8.allSatisfy(Self.isDecimal) ? Double(text) : nil
    case .null, .bool, .array, .object: nil
    }
  }

  /// A resource name, or the path of a document in this database.
  ///
  /// No text is both: the one has an odd number of segments, the other an even one.
  private func name(_ text: String) -> DocumentName? {
    if let name = try? DocumentName(resourceName: text) { return name }
    guard form == .plain, let key = try? DocumentKey(text) else { return nil }
    return DocumentName(key, in: database)
  }

  private func geoPoint(_ json: JSONValue) -> DocumentValue? {
    guard case .object = json, let latitude = double(json["latitude"] ?? .integer(0)),
      let longitude = double(json["longitude"] ?? .integer(0))
    else { return nil }
    return try? .geoPoint(DocumentGeoPoint(latitude: latitude, longitude: longitude))
  }

  /// Returns a vector for a map that has exactly the form of one, and otherwise the map.
  private static func vectorOrMap(_ map: DocumentMap) -> DocumentValue {
    guard map.count == 2, map[VectorMap.type] == VectorMap.mark,
      case .array(let elements) = map[VectorMap.value]
    else { return .map(map) }
    let numbers = elements.compactMap { DocumentNumber($0)?.double }
    return numbers.count == elements.count ? .vector(numbers) : .map(map)
  }
}
