import TernCore
import TernQuery

/// The knowledge about one field that follows from the conditions of a query: it exists, and more.
///
/// Source: firestore reference, section 6.8.
///
/// A fact must hold for every document that the conditions select; when in doubt, nothing is known.
/// A query has one value of this type for each field that it names.
struct FieldFacts {
  /// The types that a range filter tells apart.
  enum Kind {
    case null, bool, number, timestamp, string, bytes, path, latlng, list, vector, map
  }

  /// One end of a range.
  private struct Bound {
    let value: DocumentValue
    let isInclusive: Bool
  }

  /// The value that the field is equivalent to.
  private(set) var exact: DocumentValue?
  /// The type of the field.
  private(set) var kind: Kind?
  /// The lower end of the range. Of several conditions on one end the last counts; this proves less
  /// than possible, and nothing wrong.
  private var lower: Bound?
  private var upper: Bound?
  /// The values that `!=` and `not-in` exclude.
  private var others: [DocumentValue] = []
  /// True behind `!=` and `not-in`, which never select a null.
  private var isNotNull = false
  /// Elements of the array that the field is.
  private(set) var contained: [DocumentValue] = []

  /// Numbers up to this magnitude are alike as integers and as floating-point numbers.
  private static let exactMagnitude = 9_007_199_254_740_991.0

  /// Adds a condition.
  ///
  /// - Returns: False when no document meets it with the earlier ones.
  mutating func add(_ filter: DocumentFieldFilter) -> Bool {
    switch filter.comparison {
    case .equal:
      if let exact, !exact.isEquivalent(to: filter.operand) { return false }
      exact = filter.operand
      kind = Kind(filter.operand)
    case .notEqual:
      isNotNull = true
      others.append(filter.operand)
    case .notIn:
      isNotNull = true
      others += filter.alternatives
    case .lessThan, .lessThanOrEqual:
      kind = Kind(filter.operand)
      upper = Bound(value: filter.operand, isInclusive: filter.comparison == .lessThanOrEqual)
    case .greaterThan, .greaterThanOrEqual:
      kind = Kind(filter.operand)
      lower = Bound(value: filter.operand, isInclusive: filter.comparison == .greaterThanOrEqual)
    case .arrayContains:
      kind = .list
      contained.append(filter.operand)
    case .arrayContainsAny: kind = .list
    // Expanded into equalities before.
    case .in: break
    }
    return true
  }

  /// The values that the field may have as rules see it; `nil` when they are not few.
  ///
  /// A number that a filter finds may be an integer or not, and zero may be negative.
  var values: [DocumentRuleValue]? {
    guard let exact, let worlds = FieldFacts.worlds(exact) else { return nil }
    return worlds.map { DocumentRuleValue($0) }
  }

  /// Returns every value that a filter treats as equal to `value`, as documents may store it; `nil`
  /// when there are too many to list, or when rules see a difference that the filter does not.
  private static func worlds(_ value: DocumentValue) -> [DocumentValue]? {
    switch value {
    case .null, .boolean, .timestamp, .string, .bytes, .reference: return [value]
    case .integer(0): return zeros
    case .integer(let number):
      return [value] + (Double(exactly: number).map { [.double($0)] } ?? [])
    case .double(let number):
      if number.isNaN { return nil }
      if number == 0 { return zeros }
      return [value] + (Int64(exactly: number).map { [.integer($0)] } ?? [])
    case .geoPoint(let point):
      return point.latitude == 0 || point.longitude == 0 ? nil : [value]
    case .vector(let numbers):
      return numbers.contains { $0 == 0 || $0.isNaN } ? nil : [value]
    case .array(let elements):
      return product(elements).map { worlds in worlds.map { DocumentValue.array($0) } }
    case .map(let map):
      let entries = map.entries
      return product(entries.map(\.value)).map { worlds in
        worlds.map { values in
          DocumentValue.map(DocumentMap(zip(entries, values).map { ($0.name, $1) }))
        }
      }
    case .pendingTimestamp: return nil
    }
  }

  private static let zeros: [DocumentValue] = [.integer(0), .double(0), .double(-0.0)]

  /// Returns all combinations of the worlds of several elements; `nil` beyond
  /// ``ProvenValue/outcomeLimit``.
  private static func product(_ elements: [DocumentValue]) -> [[DocumentValue]]? {
    var all: [[DocumentValue]] = [[]]
    for element in elements {
      guard let worlds = worlds(element), all.count * worlds.count <= ProvenValue.outcomeLimit
      else { return nil }
      all = all.flatMap { start in worlds.map { start + [$0] } }
    }
    return all
  }
}

// Comparisons with values of rules: true or false when it is certain.
extension FieldFacts {
  /// Returns whether the field equals a value by the operator of rules; `nil` when that depends on
  /// the document.
  ///
  /// It never returns true: a field whose value is known exactly is compared as a value elsewhere.
  func equals(_ value: DocumentRuleValue) -> Bool? {
    guard let kind = Kind(value) else { return nil }
    if let own = self.kind, own != kind { return false }
    if kind == .null { return isNotNull ? false : nil }
    guard let other = DocumentValue(rule: value), FieldFacts.isSafe(other) else { return nil }
    if others.contains(where: { $0.isEquivalent(to: other) }) { return false }
    if isOutside(other) { return false }
    return nil
  }

  /// Returns whether the field compares with a value; `nil` when that depends on the document.
  ///
  /// What is not a number is below all numbers for filters, and compares with none for rules: a
  /// range without a lower end may hold it.
  func compares(_ operation: DocumentRuleOperator, _ value: DocumentRuleValue) -> Bool? {
    guard let kind, kind == Kind(value), let other = DocumentValue(rule: value),
      FieldFacts.isSafe(other)
    else { return nil }
    switch kind {
    case .number: if !isNumber { return nil }
    case .string, .bytes, .timestamp: break
    case .null, .bool, .path, .latlng, .list, .vector, .map: return nil
    }
    switch operation {
    case .less:
      if isBelow(other, orEqual: false) { return true }
      return isAbove(other, orEqual: true) ? false : nil
    case .lessOrEqual:
      if isBelow(other, orEqual: true) { return true }
      return isAbove(other, orEqual: false) ? false : nil
    case .greater:
      if isAbove(other, orEqual: false) { return true }
      return isBelow(other, orEqual: true) ? false : nil
    case .greaterOrEqual:
      if isAbove(other, orEqual: true) { return true }
      return isBelow(other, orEqual: false) ? false : nil
    default: return nil
    }
  }

  /// True when a number that a lower end keeps is certain: it is not "not a number".
  private var isNumber: Bool {
    guard let lower, Kind(lower.value) == .number else { return false }
    if case .double(let number) = lower.value, number.isNaN { return false }
    return true
  }

  private func isOutside(_ value: DocumentValue) -> Bool {
    isBelow(value, orEqual: false) || isAbove(value, orEqual: false)
  }

  /// True when every value in the range is below another one, or at most equal to it.
  private func isBelow(_ value: DocumentValue, orEqual: Bool) -> Bool {
    guard let upper else { return false }
    let order = upper.value.compare(value)
    return order < 0 || order == 0 && (orEqual || !upper.isInclusive)
  }

  private func isAbove(_ value: DocumentValue, orEqual: Bool) -> Bool {
    guard let lower else { return false }
    let order = lower.value.compare(value)
    return order > 0 || order == 0 && (orEqual || !lower.isInclusive)
  }

  /// Returns whether `field is type`; `nil` when that depends on the document.
  func isOf(_ type: DocumentRuleTypeName) -> Bool? {
    guard let kind else { return nil }
    switch type {
    case .int, .float: return kind == .number ? nil : false
    case .number: return kind == .number
    case .bool: return kind == .bool
    case .bytes: return kind == .bytes
    case .string: return kind == .string
    case .timestamp: return kind == .timestamp
    case .list: return kind == .list
    case .map: return kind == .map || kind == .vector
    case .path: return kind == .path
    case .latlng: return kind == .latlng
    case .duration, .set, .mapDiff: return false
    case .constraint: return nil
    }
  }

  /// Returns true when the field is an array that certainly holds a value, as rules compare
  /// elements: numbers are not certain, which may be integers or not.
  func holds(_ value: DocumentRuleValue) -> Bool {
    contained.contains { element in
      switch element {
      case .boolean, .string, .bytes, .timestamp, .reference: DocumentRuleValue(element) == value
      default: false
      }
    }
  }

  /// True for values that filters and rules tell from all others alike.
  private static func isSafe(_ value: DocumentValue) -> Bool {
    switch value {
    // Beyond 2⁵³ an integer and a double that filters hold equal may differ for rules.
    case .integer(let number): Double(number).magnitude <= exactMagnitude
    case .double(let number): number.magnitude <= exactMagnitude
    case .boolean, .string, .bytes, .timestamp: true
    default: false
    }
  }
}

extension FieldFacts.Kind {
  /// The type of a stored value.
  init(_ value: DocumentValue) {
    self =
      switch value {
      case .null: .null
      case .boolean: .bool
      case .integer, .double: .number
      case .timestamp, .pendingTimestamp: .timestamp
      case .string: .string
      case .bytes: .bytes
      case .reference: .path
      case .geoPoint: .latlng
      case .array: .list
      case .vector: .vector
      case .map: .map
      }
  }

  /// The type of a value of rules; `nil` for maps, which vectors are too, and for types that no
  /// field has.
  init?(_ value: DocumentRuleValue) {
    switch value {
    case .null: self = .null
    case .bool: self = .bool
    case .int, .float: self = .number
    case .timestamp: self = .timestamp
    case .string: self = .string
    case .bytes: self = .bytes
    case .path: self = .path
    case .latlng: self = .latlng
    case .list: self = .list
    case .map, .set, .mapDiff, .duration: return nil
    }
  }
}

extension DocumentValue {
  /// The stored value that compares like a value of rules; `nil` when none does for certain.
  fileprivate init?(rule value: DocumentRuleValue) {
    switch value {
    case .null: self = .null
    case .bool(let flag): self = .boolean(flag)
    case .int(let number): self = .integer(number)
    case .float(let number):
      if number.isNaN { return nil }
      self = .double(number)
    case .string(let text): self = .string(text)
    case .bytes(let bytes): self = .bytes(bytes)
    case .timestamp(let time):
      guard time.nanoseconds % 1_000 == 0,
        let stamp = try? DocumentTimestamp(
          seconds: time.seconds, nanoseconds: Int32(time.nanoseconds))
      else { return nil }
      self = .timestamp(stamp)
    case .duration, .latlng, .path, .list, .map, .set, .mapDiff: return nil
    }
  }
}
