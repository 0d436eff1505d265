import TernCore

extension DocumentFilter {
  /// - Throws: ``DocumentQueryError/emptyComposite``.
  func checkMembers() throws(DocumentQueryError) {
    switch self {
    case .field: return
    case .and(let members), .or(let members):
      if members.isEmpty { throw .emptyComposite }
      for member in members { try member.checkMembers() }
    }
  }
}

extension DocumentQuery {
  /// Checks every rule about filters and orders. Source: documents reference, section 2.3.
  func check() throws(DocumentQueryError) {
    let filters = filter?.fieldFilters ?? []
    for filter in filters { try check(filter) }
    try checkConflicts(filters)
    try checkDisjunctions()
    try checkInequalities(filters)
  }

  private func check(_ filter: DocumentFieldFilter) throws(DocumentQueryError) {
    let comparison = filter.comparison
    if comparison.takesList {
      guard case .array(let values) = filter.operand, !values.isEmpty else {
        throw .operandNotArray(comparison)
      }
      if comparison == .notIn, values.count > DocumentQueryLimits.notInValues {
        throw .tooManyValues(
          comparison, count: values.count, limit: DocumentQueryLimits.notInValues)
      }
    }
    for value in filter.alternatives {
      if value.holdsPending { throw .pendingOperand }
      if filter.path.isKey { try checkKeyOperand(value) }
    }
    if filter.path.isKey, comparison == .arrayContains || comparison == .arrayContainsAny {
      throw .arrayFilterOnKey
    }
    switch comparison {
    case .lessThan, .greaterThan:
      if case .null = filter.operand { throw .rangeOverNull }
    case .lessThanOrEqual, .greaterThanOrEqual, .equal, .notEqual, .arrayContains,
      .arrayContainsAny, .in, .notIn:
      break
    }
  }

  private func checkConflicts(_ filters: [DocumentFieldFilter]) throws(DocumentQueryError) {
    for (index, filter) in filters.enumerated() {
      let excluded = filter.comparison.excluded
      for earlier in filters[..<index] where excluded.contains(earlier.comparison) {
        throw .conflictingOperators(filter.comparison, with: earlier.comparison)
      }
    }
    if filter?.hasOr ?? false, filters.contains(where: { $0.comparison == .notIn }) {
      throw .notInWithOr
    }
  }

  private func checkDisjunctions() throws(DocumentQueryError) {
    guard let filter else { return try checkClauses([[]]) }
    let count = filter.disjunctionCount
    if count > DocumentQueryLimits.disjunctions {
      throw .tooManyDisjunctions(count: count, limit: DocumentQueryLimits.disjunctions)
    }
    let terms = filter.disjunctions()
    for term in terms {
      let arrays = term.filter {
        $0.comparison == .arrayContains || $0.comparison == .arrayContainsAny
      }
      if arrays.count > 1 { throw .severalArrayFilters }
    }
    try checkClauses(filter.disjunctions(expandingArrays: true))
  }

  private func checkClauses(_ terms: [[DocumentFieldFilter]]) throws(DocumentQueryError) {
    var count = terms.reduce(orders.count) { $0 + $1.count }
    if case .collection(let path) = source, path.parent != nil { count += 1 }
    if count > DocumentQueryLimits.clauses {
      throw .tooManyClauses(count: count, limit: DocumentQueryLimits.clauses)
    }
  }

  private func checkInequalities(_ filters: [DocumentFieldFilter]) throws(DocumentQueryError) {
    let fields = Set(filters.filter(\.comparison.isInequality).map(\.path))
    if fields.count > DocumentQueryLimits.inequalityFields {
      throw .tooManyInequalityFields(
        count: fields.count, limit: DocumentQueryLimits.inequalityFields)
    }
    let keys = filters.filter(\.path.isKey)
    let asksForKeys = keys.contains { $0.comparison == .equal }
    if asksForKeys, !fields.isEmpty, !fields.contains(.key) { throw .keyEqualityWithRange }
  }
}

extension DocumentOperator {
  /// The operators that cannot stand beside this one.
  fileprivate var excluded: [DocumentOperator] {
    switch self {
    case .notEqual: [.notEqual, .notIn]
    case .notIn: [.notIn, .notEqual, .in, .arrayContainsAny]
    case .in, .arrayContainsAny: [.notIn]
    case .lessThan, .lessThanOrEqual, .equal, .greaterThan, .greaterThanOrEqual,
      .arrayContains:
      []
    }
  }
}

extension DocumentValue {
  fileprivate var holdsPending: Bool {
    switch self {
    case .pendingTimestamp: true
    case .array(let elements): elements.contains(where: \.holdsPending)
    case .map(let map): map.entries.contains { $0.value.holdsPending }
    case .null, .boolean, .integer, .double, .timestamp, .string, .bytes, .reference,
      .geoPoint, .vector:
      false
    }
  }
}
