import TernCore

extension DocumentTarget {
  /// One text per target: equal targets have equal ids, and targets of equal ids are equal.
  ///
  /// Every name is quoted and every list has its own brackets, so that no part can be taken for
  /// another. Names are equal by their bytes, and so are ids.
  /// Source: documents reference, section 2.11.
  public var id: String {
    var id: String
    switch source {
    case .collection(let path): id = "c:" + path.text.quoted
    case .document(let key): id = "d:" + key.text.quoted
    case .group(let group): id = "cg:" + group.quoted
    case .all(let parent, let isRecursive):
      id = (isRecursive ? "below:" : "all:") + (parent?.text.quoted ?? "")
    }
    if let filter { id += "|f:" + filter.id }
    id += "|ob:" + orders.map { $0.path.id + ($0.isDescending ? "desc" : "asc") }.list
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
    (isInclusive ? inclusive : exclusive) + values.map(\.id).list
  }
}

extension DocumentFilter {
  /// The filter as part of an id.
  fileprivate var id: String {
    switch self {
    // A path ends with a quote, and no operator begins with a dot, nor a value like an operator.
    case .field(let filter):
      filter.path.id + filter.comparison.rawValue + ":" + filter.operand.id
    case .and(let members): "and" + members.map(\.id).list
    case .or(let members): "or" + members.map(\.id).list
    }
  }
}

extension DocumentFieldPath {
  /// The path as part of an id.
  fileprivate var id: String { names.map(\.quoted).joined(separator: ".") }
}

extension DocumentValue {
  /// The value as part of an id; those of different types begin differently.
  fileprivate var id: String {
    switch self {
    case .null: "null"
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .double(let number): number.isNaN ? "nan" : number.description
    case .timestamp(let time): "time(\(time.seconds),\(time.nanoseconds))"
    case .string(let text): text.quoted
    case .bytes(let bytes): "x" + DocumentValue.hex(bytes)
    case .reference(let name): "ref(" + name.resourceName.quoted + ")"
    case .geoPoint(let point): "geo(\(point.latitude),\(point.longitude))"
    case .array(let values): values.map(\.id).list
    case .vector(let numbers): "vec" + DocumentValue.array(numbers.map(DocumentValue.double)).id
    case .map(let map):
      "{"
        + map.entries.map { $0.name.quoted + ":" + $0.value.id }.joined(separator: ",") + "}"
    case .pendingTimestamp(let pending):
      "pending(\(pending.localWriteTime.microseconds),\(pending.previous?.id ?? ""))"
    }
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }
}

extension [String] {
  /// The elements in brackets; none of them holds a comma or a bracket outside of its own quotes
  /// and brackets.
  fileprivate var list: String { "[" + joined(separator: ",") + "]" }
}

extension String {
  /// The text in quotes, which cannot end before the closing one.
  fileprivate var quoted: String {
    let isPlain = !utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
    if isPlain { return "\"" + self + "\"" }
    var result = "\""
    for scalar in unicodeScalars {
      if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }
}
