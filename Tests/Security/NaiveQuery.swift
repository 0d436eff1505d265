import TernCore
import TernSecurity

/// The query's properties for a rule, the obvious way: by name.
struct NaiveQuery {
  /// The value of each member; those that are missing are `null`.
  var members: [String: NaiveValue] = ["orderByKey": .bool(true)]

  /// A read without a query, and what rules above the queried place see.
  static let none = NaiveQuery()

  static let kinds: [String: Set<NaiveKind>] = [
    "orderByKey": [.bool], "orderByValue": [.bool], "orderByPriority": [.bool],
    "orderByChild": [.null, .text], "startAt": [.null, .bool, .number, .text],
    "endAt": [.null, .bool, .number, .text], "equalTo": [.null, .bool, .number, .text],
    "limitToFirst": [.null, .number], "limitToLast": [.null, .number],
  ]

  func value(_ name: String) -> NaiveValue {
    let isFlag = Self.kinds[name] == [.bool]
    return members[name] ?? (isFlag ? .bool(false) : .null)
  }
}

extension NaiveGenerator {
  /// A query, as the evaluator and as the naive one know it.
  mutating func query() -> (RulesQuery, NaiveQuery) {
    if chance(30) { return (.none, .none) }
    var query = RulesQuery(order: pick([.key, .value, .priority, .child("a"), .child("b/c")]))
    var naive = NaiveQuery(members: [:])
    switch query.order {
    case .key: naive.members["orderByKey"] = .bool(true)
    case .value: naive.members["orderByValue"] = .bool(true)
    case .priority: naive.members["orderByPriority"] = .bool(true)
    case .child(let path): naive.members["orderByChild"] = .text(path)
    }
    let bounds: [TreeScalar] = [.bool(true), .integer(2), .double(0.5), .string("a"), .string("b")]
    if chance(30) {
      let bound = pick(bounds)
      query.start = bound
      naive.members["startAt"] = NaiveValue(bound)
    }
    if chance(30) {
      let bound = pick(bounds)
      query.end = bound
      naive.members["endAt"] = NaiveValue(bound)
    }
    if chance(20) {
      let bound = pick(bounds)
      query.equal = bound
      naive.members["equalTo"] = NaiveValue(bound)
    }
    if chance(50) {
      let limit = pick([1, 2, 10])
      let isFirst = chance(50)
      if isFirst { query.firstLimit = limit } else { query.lastLimit = limit }
      naive.members[isFirst ? "limitToFirst" : "limitToLast"] = .number(Double(limit))
    }
    return (query, naive)
  }
}
