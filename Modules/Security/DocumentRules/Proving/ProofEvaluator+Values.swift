import TernCore
import TernQuery

// Members, operators and methods of values that are not known as a whole.
extension ProofEvaluator {
  /// The members that `request` has in a list.
  private static let requestMembers = ["auth", "method", "path", "query", "time"]
  /// The members of a document.
  private static let documentMembers = ["data", "id", "__name__"]

  /// Returns a member of a value. Fields of the document stay symbolic as long as the query does
  /// not determine them.
  mutating func member(
    _ name: String, of value: ProvenValue
  ) throws(DocumentRuleFault) -> ProvenValue {
    switch value {
    case .request: return requestMember(name)
    case .document:
      if name.hasSameBytes(as: "data") { return .field([]) }
      return Self.documentMembers.contains { $0.hasSameBytes(as: name) }
        ? anyValue() : .fault(.undefinedProperty(name))
    case .field(let path): return try field(path + [ExactText(name)])
    case .keys: return .fault(.undefinedProperty(name))
    case .anything, .anyValue: return .anything
    case .oneOf:
      return try Self.combine([value]) { values throws(DocumentRuleFault) in
        try DocumentRuleOperations.member(name, of: values[0])
      }
    }
  }

  /// Returns a member of `request`. All but the path are the same for every document.
  private mutating func requestMember(_ name: String) -> ProvenValue {
    // The last segment of the path is that of no document in particular.
    if name.hasSameBytes(as: "path") { return anyValue() }
    return request.member(name).map { .value($0) } ?? .fault(.undefinedProperty(name))
  }

  /// A value that differs from document to document.
  private mutating func anyValue() -> ProvenValue {
    note(.nullValue)
    return .anyValue
  }

  /// The field at a path: its values when they are few, or the path itself.
  private mutating func field(_ path: [ExactText]) throws(DocumentRuleFault) -> ProvenValue {
    guard let (values, rest) = facts.exactValues(at: path) else {
      if let name = path.last, !facts.exists(path) { note(.undefinedProperty(name.text)) }
      return .field(path)
    }
    var result = ProvenValue.values(values)
    for name in rest { result = try member(name.text, of: result) }
    return result
  }

  /// Returns `value[key]`; a constant string key of a map is a member.
  mutating func element(
    of value: ProvenValue, at key: ProvenValue
  ) throws(DocumentRuleFault) -> ProvenValue {
    switch (value, key.onlyValue) {
    case (.field(let path), .string(let name)?) where facts.isMap(path):
      return try member(name, of: value)
    case (.document, .string(let name)?), (.request, .string(let name)?):
      return try member(name, of: value)
    default:
      return try Self.combine([value, key]) { values throws(DocumentRuleFault) in
        try DocumentRuleOperations.element(of: values[0], at: values[1])
      }
    }
  }

  /// Returns `value is type`, from the facts about a field where its type follows from the query.
  mutating func isOf(
    _ type: DocumentRuleTypeName, _ value: ProvenValue
  ) throws(DocumentRuleFault) -> ProvenValue {
    switch value {
    case .document, .request: return type == .constraint ? .anything : .bool(type == .map)
    case .keys: return type == .constraint ? .anything : .bool(type == .list)
    case .field(let path):
      if type != .constraint, facts.isMap(path) { return .bool(type == .map) }
      guard let certain = facts.facts(at: path)?.isOf(type) else { return .anything }
      return .bool(certain)
    case .anything, .anyValue: return .anything
    case .oneOf:
      return try Self.combine([value]) { values throws(DocumentRuleFault) in
        .bool(values[0].isOf(type))
      }
    }
  }

  /// Applies an operator: first by facts about a field on either side, and otherwise to every
  /// combination of what the operands may be.
  mutating func apply(
    _ operation: DocumentRuleOperator, _ left: ProvenValue, _ right: ProvenValue
  ) throws(DocumentRuleFault) -> ProvenValue {
    let certain: Bool?
    switch operation {
    case .equal: certain = equals(left, right) ?? equals(right, left)
    case .notEqual: certain = (equals(left, right) ?? equals(right, left)).map { !$0 }
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      certain =
        compares(operation, left, right) ?? compares(operation.mirrored, right, left)
    case .isIn: certain = isMember(left, of: right)
    case .add, .subtract, .multiply, .divide, .remainder: certain = nil
    }
    if let certain { return .bool(certain) }
    return try Self.combine([left, right]) { values throws(DocumentRuleFault) in
      try DocumentRuleOperations.apply(operation, values[0], values[1])
    }
  }

  /// Returns whether a part of the document equals a value; `nil` when that is not certain.
  ///
  /// - Returns: False at most: a part of the document is never known to equal a value here.
  private func equals(_ left: ProvenValue, _ right: ProvenValue) -> Bool? {
    guard let value = right.onlyValue else { return nil }
    switch left {
    case .document, .request:
      // Both are maps.
      if case .map = value { return nil }
      return false
    case .keys:
      if case .list = value { return nil }
      return false
    case .field(let path):
      if facts.isMap(path) {
        if case .map = value { return nil }
        return false
      }
      return facts.facts(at: path)?.equals(value)
    case .anything, .anyValue, .oneOf: return nil
    }
  }

  private func compares(
    _ operation: DocumentRuleOperator, _ left: ProvenValue, _ right: ProvenValue
  ) -> Bool? {
    guard case .field(let path) = left, let value = right.onlyValue else { return nil }
    return facts.facts(at: path)?.compares(operation, value)
  }

  /// Returns whether `left in right`; `nil` when that is not certain.
  private func isMember(_ left: ProvenValue, of right: ProvenValue) -> Bool? {
    if case .field(let path) = left {
      let elements: [DocumentRuleValue]
      switch right.onlyValue {
      case .list(let list): elements = list
      case .set(let set): elements = set.elements
      default: return nil
      }
      guard let field = facts.facts(at: path) else { return nil }
      return elements.allSatisfy { field.equals($0) == false } ? false : nil
    }
    guard let value = left.onlyValue else { return nil }
    switch (right, value) {
    case (.field(let path), .string(let name)) where facts.isMap(path):
      return holds(name, path) ? true : nil
    case (.field(let path), _) where facts.isMap(path): return false
    case (.field(let path), _): return facts.facts(at: path)?.holds(value) == true ? true : nil
    case (.keys(let path), .string(let name)): return holds(name, path) ? true : nil
    case (.keys, _): return false
    case (.document, .string(let name)):
      return Self.documentMembers.contains { $0.hasSameBytes(as: name) }
    case (.request, .string(let name)):
      return Self.requestMembers.contains { $0.hasSameBytes(as: name) }
    default: return nil
    }
  }

  /// Returns true when the map at a path has a key in every document.
  private func holds(_ name: String, _ path: [ExactText]) -> Bool {
    facts.exists(path + [ExactText(name)])
  }

  /// Calls a method.
  mutating func call(
    _ method: DocumentRuleMethod, of receiver: ProvenValue, _ arguments: [ProvenValue],
    _ pattern: DocumentPattern?
  ) throws(DocumentRuleFault) -> ProvenValue {
    if let result = try call(method, ofPart: receiver, arguments) { return result }
    var steps = budget.patternSteps
    let result = try Self.combine([receiver] + arguments) { values throws(DocumentRuleFault) in
      let arguments = Array(values.dropFirst())
      if method.takesPattern {
        return try DocumentRuleTexts.call(method, values[0], arguments, pattern, steps: &steps)
      }
      return try DocumentRuleMethodCalls.call(method, values[0], arguments)
    }
    budget.patternSteps = steps
    return result
  }

  /// Calls a method of a part of the document; `nil` when nothing is certain.
  ///
  /// Only calls that can be decided by the existence of fields, or by elements that
  /// `array-contains` guarantees, are.
  private mutating func call(
    _ method: DocumentRuleMethod, ofPart receiver: ProvenValue, _ arguments: [ProvenValue]
  ) throws(DocumentRuleFault) -> ProvenValue? {
    switch (receiver, method) {
    case (.field(let path), .keys) where arguments.isEmpty && facts.isMap(path):
      return .keys(path)
    case (.field(let path), .get)
    where arguments.count == 2 && facts.isMap(path) && isSure(arguments[1]):
      guard let names = Self.names(arguments[0]) else { return nil }
      let whole = path + names.map { ExactText($0) }
      guard facts.exists(whole) else { return nil }
      return try field(whole)
    case (.field, .hasAny), (.field, .hasAll), (.keys, .hasAny), (.keys, .hasAll):
      guard arguments.count == 1 else { return nil }
      let wanted: [DocumentRuleValue]
      switch arguments[0].onlyValue {
      case .list(let list): wanted = list
      case .set(let set): wanted = set.elements
      default: return nil
      }
      let held = wanted.filter { isElement($0, of: receiver) }
      let isCertain =
        method == .hasAny ? !held.isEmpty : !wanted.isEmpty && held.count == wanted.count
      return isCertain ? ProvenValue.bool(true) : nil
    default: return nil
    }
  }

  /// The names that `get` looks for, one inside of the other.
  private static func names(_ argument: ProvenValue) -> [String]? {
    switch argument.onlyValue {
    case .string(let name): return [name]
    case .list(let list):
      let names = list.compactMap { item -> String? in
        if case .string(let name) = item { name } else { nil }
      }
      return names.isEmpty || names.count < list.count ? nil : names
    default: return nil
    }
  }

  /// Returns true when a list in the document certainly has an element.
  private func isElement(_ value: DocumentRuleValue, of receiver: ProvenValue) -> Bool {
    switch (receiver, value) {
    case (.keys(let path), .string(let name)): holds(name, path)
    case (.field(let path), _): facts.facts(at: path)?.holds(value) == true
    default: false
    }
  }
}

extension DocumentRuleOperator {
  /// The comparison with its sides exchanged.
  fileprivate var mirrored: DocumentRuleOperator {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: self
    }
  }
}
