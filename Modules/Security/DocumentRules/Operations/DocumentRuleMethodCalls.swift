import TernCore

/// The methods of the types of the language of rules, by the type of the receiver.
///
/// Source: firestore reference, section 6.5.
///
/// Each function for a type returns `nil` for a method that the type lacks or for arguments that do
/// not fit, and the caller turns `nil` into the fault that names the types. Other faults are thrown
/// directly.
package enum DocumentRuleMethodCalls {
  package typealias Value = DocumentRuleValue

  /// Calls a method other than those that take a regular expression.
  ///
  /// - Throws: ``DocumentRuleFault/nullValue`` for a null receiver, otherwise a fault that names
  ///   the method.
  package static func call(
    _ method: DocumentRuleMethod, _ receiver: Value, _ arguments: [Value]
  ) throws(DocumentRuleFault) -> Value {
    let result: Value?
    switch receiver {
    case .string(let text): result = string(method, text, arguments)
    case .bytes(let bytes): result = self.bytes(method, bytes, arguments)
    case .list(let elements): result = try list(method, elements, arguments)
    case .set(let elements): result = set(method, elements, arguments)
    case .map(let map): result = self.map(method, map, arguments)
    case .mapDiff(let diff):
      result = arguments.isEmpty ? diff.keys(method).map { .set($0) } : nil
    case .timestamp(let time): result = arguments.isEmpty ? timestamp(method, time) : nil
    case .duration(let time): result = arguments.isEmpty ? duration(method, time) : nil
    case .latlng(let point): result = latlng(method, point, arguments)
    case .path(let path): result = try self.path(method, path, arguments)
    case .null: throw .nullValue
    case .bool, .int, .float: result = nil
    }
    guard let result else { throw .method(method.rawValue, of: receiver, arguments) }
    return result
  }

  private static func string(
    _ method: DocumentRuleMethod, _ text: String, _ arguments: [Value]
  ) -> Value? {
    guard arguments.isEmpty else { return nil }
    switch method {
    case .size: return .int(Int64(text.unicodeScalars.count))
    case .lower: return .string(text.lowercased())
    case .upper: return .string(text.uppercased())
    case .trim: return .string(trimmed(text))
    case .toUtf8: return .bytes(Array(text.utf8))
    default: return nil
    }
  }

  /// Removes white space of Unicode at both ends. Linear, because a slice drops its first scalar in
  /// constant time.
  private static func trimmed(_ text: String) -> String {
    var scalars = text.unicodeScalars[...]
    while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
    while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
    return String(scalars)
  }

  private static func bytes(
    _ method: DocumentRuleMethod, _ bytes: [UInt8], _ arguments: [Value]
  ) -> Value? {
    guard arguments.isEmpty else { return nil }
    switch method {
    case .size: return .int(Int64(bytes.count))
    case .toBase64: return .string(DocumentRuleBytes.base64(bytes))
    case .toHexString: return .string(DocumentRuleBytes.hexadecimal(bytes))
    default: return nil
    }
  }

  /// Evaluates the methods of lists. `concat` is limited by ``DocumentRulesLimits/listElements``: a
  /// few doublings would otherwise fill the memory.
  private static func list(
    _ method: DocumentRuleMethod, _ elements: [Value], _ arguments: [Value]
  ) throws(DocumentRuleFault) -> Value? {
    switch (method, arguments.count, arguments.first) {
    case (.size, 0, _): return .int(Int64(elements.count))
    case (.toSet, 0, _): return .set(DocumentRuleSet(elements))
    case (.concat, 1, .list(let others)):
      if elements.count + others.count > DocumentRulesLimits.listElements { throw .tooLarge }
      return .list(elements + others)
    case (.removeAll, 1, .list(let others)):
      let removed = DocumentRuleMembers(others)
      return .list(elements.filter { !removed.contains($0) })
    case (.join, 1, .string(let separator)): return try joined(elements, by: separator)
    default:
      guard arguments.count == 1, let others = members(arguments[0]) else { return nil }
      return comparison(method, elements, DocumentRuleMembers(elements), others)
    }
  }

  /// Joins texts with a separator. The size is checked after each element, not only at the end.
  private static func joined(
    _ elements: [Value], by separator: String
  ) throws(DocumentRuleFault) -> Value {
    var text = ""
    for (index, element) in elements.enumerated() {
      if index > 0 { text += separator }
      guard let part = DocumentRuleFunctions.text(of: element) else {
        throw .unsupported(received: "list of \(element.typeName).join(string)", expected: "text")
      }
      text += part
      if text.utf8.count > DocumentRulesLimits.textBytes { throw .tooLarge }
    }
    return .string(text)
  }

  /// The elements of a list or set; `nil` for other values.
  private static func members(_ value: Value) -> [Value]? {
    switch value {
    case .list(let elements): elements
    case .set(let set): set.elements
    default: nil
    }
  }

  /// Answers `hasAll`, `hasAny` and `hasOnly`; `nil` for other methods.
  private static func comparison(
    _ method: DocumentRuleMethod, _ elements: [Value], _ members: DocumentRuleMembers,
    _ others: [Value]
  ) -> Value? {
    switch method {
    case .hasAll: return .bool(others.allSatisfy { members.contains($0) })
    case .hasAny: return .bool(others.contains { members.contains($0) })
    case .hasOnly:
      let allowed = DocumentRuleMembers(others)
      return .bool(elements.allSatisfy { allowed.contains($0) })
    default: return nil
    }
  }

  /// Evaluates the methods of sets. The three that make a set accept only a set; the comparisons
  /// accept lists too.
  private static func set(
    _ method: DocumentRuleMethod, _ set: DocumentRuleSet, _ arguments: [Value]
  ) -> Value? {
    if method == .size, arguments.isEmpty { return .int(Int64(set.count)) }
    guard arguments.count == 1 else { return nil }
    if case .set(let other) = arguments[0] {
      switch method {
      case .difference:
        return .set(DocumentRuleSet(set.elements.filter { !other.contains($0) }))
      case .intersection:
        return .set(DocumentRuleSet(set.elements.filter { other.contains($0) }))
      case .union: return .set(DocumentRuleSet(set.elements + other.elements))
      default: break
      }
    }
    guard let others = members(arguments[0]) else { return nil }
    return comparison(method, set.elements, DocumentRuleMembers(set.elements), others)
  }

  private static func map(
    _ method: DocumentRuleMethod, _ map: DocumentRuleMap, _ arguments: [Value]
  ) -> Value? {
    switch (method, arguments.count) {
    case (.size, 0): return .int(Int64(map.count))
    case (.keys, 0): return .list(map.keys.map { .string($0) })
    case (.values, 0): return .list(map.entries.map(\.value))
    case (.diff, 1):
      guard case .map(let other) = arguments[0] else { return nil }
      return .mapDiff(DocumentRuleMapDiff(map, other))
    case (.get, 2): return get(map, arguments[0], default: arguments[1])
    default: return nil
    }
  }

  /// Returns the value at a key, or at a list of keys one inside the other, or the default when any
  /// is missing. A missing key is no fault here, unlike in a member access.
  private static func get(_ map: DocumentRuleMap, _ key: Value, default other: Value) -> Value? {
    switch key {
    case .string(let name): return map[name] ?? other
    case .list(let names):
      var current = Value.map(map)
      for name in names {
        guard case .string(let name) = name else { return nil }
        guard case .map(let inner) = current, let next = inner[name] else { return other }
        current = next
      }
      return current
    default: return nil
    }
  }

  private static func latlng(
    _ method: DocumentRuleMethod, _ point: DocumentGeoPoint, _ arguments: [Value]
  ) -> Value? {
    switch (method, arguments.count, arguments.first) {
    case (.latitude, 0, _): .float(point.latitude)
    case (.longitude, 0, _): .float(point.longitude)
    case (.distance, 1, .latlng(let other)): .float(DocumentRuleNumbers.distance(point, other))
    default: nil
    }
  }

  /// Evaluates `bind`, which replaces segments of the form `{name}` by the values of a map.
  ///
  /// - Throws: A fault for a segment without a value, and for a value without a segment.
  private static func path(
    _ method: DocumentRuleMethod, _ path: DocumentRulePath, _ arguments: [Value]
  ) throws(DocumentRuleFault) -> Value? {
    guard method == .bind, arguments.count == 1, case .map(let values) = arguments[0] else {
      return nil
    }
    var unused = Set(values.keys.map { ExactText($0) })
    var segments: [String] = []
    for segment in path.segments {
      guard segment.utf8.first == UInt8(ascii: "{"), segment.utf8.last == UInt8(ascii: "}"),
        segment.utf8.count > 2
      else {
        segments.append(segment)
        continue
      }
      let name = String(segment.dropFirst().dropLast())
      guard let value = values[name] else {
        throw .invalidArgument("No value for \(name).")
      }
      try DocumentRuleOperations.append(value, to: &segments)
      unused.remove(ExactText(name))
    }
    if !unused.isEmpty { throw .invalidArgument("The path has no segment for a key.") }
    return .path(DocumentRulePath(segments))
  }
}

extension DocumentRuleMethodCalls {
  /// Evaluates the methods of timestamps, all in UTC. `month` and `day` count from 1.
  private static func timestamp(
    _ method: DocumentRuleMethod, _ time: DocumentRuleTime
  ) -> Value? {
    let date = DocumentRuleDate(time)
    switch method {
    case .year: return .int(date.year)
    case .month: return .int(date.month)
    case .day: return .int(date.day)
    case .hours: return .int(date.secondOfDay / 3_600)
    case .minutes: return .int(date.secondOfDay / 60 % 60)
    case .seconds: return .int(date.secondOfDay % 60)
    case .nanos: return .int(time.nanoseconds)
    case .dayOfWeek: return .int(date.dayOfWeek)
    case .dayOfYear: return .int(date.dayOfYear)
    case .date:
      let midnight = date.dayNumber * DocumentRuleTime.secondsPerDay
      return DocumentRuleTime(seconds: midnight, nanoseconds: 0).map { .timestamp($0) }
    case .time:
      return DocumentRuleTime(seconds: date.secondOfDay, nanoseconds: time.nanoseconds)
        .map { .duration($0) }
    case .toMillis: return .int(time.seconds * 1_000 + time.nanoseconds / 1_000_000)
    default: return nil
    }
  }

  /// The parts of a duration; both have its sign.
  private static func duration(
    _ method: DocumentRuleMethod, _ time: DocumentRuleTime
  ) -> Value? {
    let isRounded = time.seconds < 0 && time.nanoseconds > 0
    switch method {
    case .seconds: return .int(isRounded ? time.seconds + 1 : time.seconds)
    case .nanos:
      return .int(
        isRounded ? time.nanoseconds - DocumentRuleTime.nanosecondsPerSecond : time.nanoseconds)
    default: return nil
    }
  }
}

/// The elements that others are looked up in: compared one by one when they are few.
///
/// Up to ``fewest`` elements are compared one by one, because hashing them costs more. Larger lists
/// are hashed once, which keeps `hasAll` of two long lists linear.
struct DocumentRuleMembers {
  private let few: [DocumentRuleValue]
  private let many: Set<DocumentRuleValue>
  private static let fewest = 16

  init(_ elements: [DocumentRuleValue]) {
    let isFew = elements.count <= DocumentRuleMembers.fewest
    few = isFew ? elements : []
    many = isFew ? [] : Set(elements)
  }

  func contains(_ value: DocumentRuleValue) -> Bool {
    many.isEmpty ? few.contains(value) : many.contains(value)
  }
}
