package import TernCore

/// A value of the language of rules.
///
/// `==` and hashing are the equality inside of containers, where `1` differs from `1.0`; the
/// operator of the language is ``DocumentRuleOperations/areEqual(_:_:)``.
/// Source: firestore reference, section 6.5.
package enum DocumentRuleValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case float(Double)
  case string(String)
  case bytes([UInt8])
  /// A point in time in the years 1 to 9999.
  case timestamp(DocumentRuleTime)
  /// A length of time of at most 10,000 years, which may be negative.
  case duration(DocumentRuleTime)
  case latlng(DocumentGeoPoint)
  /// A path; references in documents are paths too.
  case path(DocumentRulePath)
  case list([DocumentRuleValue])
  case map(DocumentRuleMap)
  case set(DocumentRuleSet)
  case mapDiff(DocumentRuleMapDiff)

  /// The name of the type, as error texts have it.
  package var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .int: "int"
    case .float: "float"
    case .string: "string"
    case .bytes: "bytes"
    case .timestamp: "timestamp"
    case .duration: "duration"
    case .latlng: "latlng"
    case .path: "path"
    case .list: "list"
    case .map: "map"
    case .set: "set"
    case .mapDiff: "map_diff"
    }
  }

  /// Returns true when `value is type` holds; it never does for sets, as in the service.
  package func isOf(_ type: DocumentRuleTypeName) -> Bool {
    switch (self, type) {
    case (.bool, .bool), (.bytes, .bytes), (.duration, .duration), (.float, .float),
      (.int, .int), (.latlng, .latlng), (.list, .list), (.map, .map), (.int, .number),
      (.float, .number), (.path, .path), (.string, .string), (.timestamp, .timestamp),
      (.mapDiff, .mapDiff):
      true
    default: false
    }
  }
}

extension DocumentRuleValue: Hashable {
  package static func == (left: DocumentRuleValue, right: DocumentRuleValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.float(let a), .float(let b)): a == b || (a.isNaN && b.isNaN)
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.bytes(let a), .bytes(let b)): a == b
    case (.timestamp(let a), .timestamp(let b)), (.duration(let a), .duration(let b)): a == b
    case (.latlng(let a), .latlng(let b)): a == b
    case (.path(let a), .path(let b)): a == b
    case (.list(let a), .list(let b)): a == b
    case (.map(let a), .map(let b)): a == b
    case (.set(let a), .set(let b)): a == b
    case (.mapDiff(let a), .mapDiff(let b)): a == b
    default: false
    }
  }

  /// Values that are equal hash alike: both zeros, and every NaN.
  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0 as UInt8)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .float(let value):
      hasher.combine(value.isNaN ? Double.nan.bitPattern : (value + 0).bitPattern)
    case .string(let value): value.hashBytes(into: &hasher)
    case .bytes(let value): hasher.combine(value)
    case .timestamp(let value), .duration(let value): hasher.combine(value)
    case .latlng(let value): hasher.combine(value)
    case .path(let value): hasher.combine(value)
    case .list(let value): hasher.combine(value)
    case .map(let value): hasher.combine(value)
    case .set(let value): hasher.combine(value)
    case .mapDiff(let value): hasher.combine(value)
    }
  }
}

extension DocumentRuleValue {
  /// The value of a field of a document.
  ///
  /// A vector is the map that Firestore stores it as. A server timestamp that is not resolved
  /// counts as its local estimate.
  package init(_ value: DocumentValue) {
    switch value {
    case .null: self = .null
    case .boolean(let value): self = .bool(value)
    case .integer(let value): self = .int(value)
    case .double(let value): self = .float(value)
    case .timestamp(let time): self = .timestamp(DocumentRuleTime(time))
    case .string(let value): self = .string(value)
    case .bytes(let value): self = .bytes(value)
    case .reference(let name):
      self = .path(DocumentRulePath(name.key, in: name.database.databaseID))
    case .geoPoint(let point): self = .latlng(point)
    case .array(let elements): self = .list(elements.map { DocumentRuleValue($0) })
    case .vector(let numbers):
      self = .map(
        DocumentRuleMap([
          ("__type__", .string("__vector__")), ("value", .list(numbers.map { .float($0) })),
        ]))
    case .map(let map): self = .map(DocumentRuleMap(map))
    case .pendingTimestamp(let pending):
      self = .timestamp(DocumentRuleTime(pending.localWriteTime))
    }
  }

  /// The value of JSON, such as the claims of a token: whole numbers are `int`.
  package init(json: JSONValue) {
    switch json {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .int(value)
    case .double(let value): self = .float(value)
    case .string(let value): self = .string(value)
    case .array(let elements): self = .list(elements.map { DocumentRuleValue(json: $0) })
    case .object(let members):
      self = .map(DocumentRuleMap(members.map { ($0.name, DocumentRuleValue(json: $0.value)) }))
    }
  }
}
