extension DocumentFilter {
  /// The alternatives of the filter, each a list of comparisons that all must hold.
  ///
  /// `in` becomes one equality per value; `array-contains-any` stays whole unless asked to be
  /// expanded too. Source: documents reference, section 2.4.
  ///
  /// - Complexity: O(product of the alternatives); check ``disjunctionCount`` first.
  package func disjunctions(expandingArrays: Bool = false) -> [[DocumentFieldFilter]] {
    switch self {
    case .field(let filter):
      let single: DocumentOperator? =
        switch filter.comparison {
        case .in: .equal
        case .arrayContainsAny where expandingArrays: .arrayContains
        default: nil
        }
      guard let single else { return [[filter]] }
      return filter.alternatives.map { [DocumentFieldFilter(filter.path, single, $0)] }
    case .or(let members):
      return members.flatMap { $0.disjunctions(expandingArrays: expandingArrays) }
    case .and(let members):
      // Nothing matches. The members before an empty one would be multiplied in vain.
      if members.contains(where: { $0.disjunctionCount == 0 }) { return [] }
      return members.reduce([[]]) { terms, member in
        let alternatives = member.disjunctions(expandingArrays: expandingArrays)
        return terms.flatMap { term in alternatives.map { term + $0 } }
      }
    }
  }

  /// The number of alternatives, with `in` and `array-contains-any` expanded.
  ///
  /// Saturates at `Int.max`, so that hostile filters cannot overflow it.
  package var disjunctionCount: Int {
    switch self {
    case .field(let filter):
      filter.comparison == .in || filter.comparison == .arrayContainsAny
        ? filter.alternatives.count : 1
    case .or(let members):
      members.reduce(0) { $0.addingSaturated($1.disjunctionCount) }
    case .and(let members):
      members.reduce(1) { product, member in
        let (value, overflow) = product.multipliedReportingOverflow(by: member.disjunctionCount)
        return overflow ? .max : value
      }
    }
  }
}

extension Int {
  fileprivate func addingSaturated(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
