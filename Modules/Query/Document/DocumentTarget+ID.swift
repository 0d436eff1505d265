import TernCore

extension DocumentTarget {
  /// One text per target: equal targets have equal ids, and targets of equal ids are equal.
  ///
  /// Conditions joined by AND read the same however they were joined.
  /// Source: documents reference, section 2.11.
  public var id: String {
    var id: String
    switch source {
    case .collection(let path): id = path.text
    case .document(let key): id = key.text
    case .group(let group): id = "|cg:" + group
    case .all(let parent, let isRecursive): id = "|all\(isRecursive):" + (parent?.text ?? "")
    }
    id += "|f:" + (filter?.id ?? "")
    id += "|ob:" + orders.map { $0.path.text + ($0.isDescending ? "desc" : "asc") }.joined()
    if let limit { id += "|l:\(limit)" }
    if offset > 0 { id += "|o:\(offset)" }
    if let start { id += "|lb:" + start.id(inclusive: "b:", exclusive: "a:") }
    if let end { id += "|ub:" + end.id(inclusive: "a:", exclusive: "b:") }
    return id
  }
}

extension DocumentQuery {
  /// One text per query: the target's and the side of the limit.
  public var id: String { target.id + "|lt:" + (limit?.side == .last ? "l" : "f") }
}

extension DocumentCursor {
  fileprivate func id(inclusive: String, exclusive: String) -> String {
    (isInclusive ? inclusive : exclusive) + values.map(\.id).joined(separator: ",")
  }
}

extension DocumentFilter {
  /// The filter as part of an id.
  fileprivate var id: String {
    switch self {
    case .field(let filter): filter.path.text + filter.comparison.rawValue + filter.operand.id
    case .and(let members): members.map(\.id).joined(separator: "&")
    case .or(let members): "or(" + members.map(\.id).joined(separator: ",") + ")"
    }
  }
}

extension DocumentValue {
  /// The value as part of an id: text is quoted, so that no value can look like another.
  fileprivate var id: String {
    switch self {
    case .null: "null"
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .double(let number): number.isNaN ? "nan" : number.description
    case .timestamp(let time): "time(\(time.seconds),\(time.nanoseconds))"
    case .string(let text): DocumentValue.quoted(text)
    case .bytes(let bytes): "x" + DocumentValue.hex(bytes)
    case .reference(let name): "ref(" + DocumentValue.quoted(name.resourceName) + ")"
    case .geoPoint(let point): "geo(\(point.latitude),\(point.longitude))"
    case .array(let values): "[" + values.map(\.id).joined(separator: ",") + "]"
    case .vector(let numbers): "vec" + DocumentValue.array(numbers.map(DocumentValue.double)).id
    case .map(let map):
      "{"
        + map.entries.map { DocumentValue.quoted($0.name) + ":" + $0.value.id }
        .joined(separator: ",") + "}"
    case .pendingTimestamp(let pending): "pending(\(pending.localWriteTime.microseconds))"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
