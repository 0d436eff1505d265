public import TernCore
public import TernQuery

/// The query of a read as rules see it, as `query`.
///
/// Rules above the queried node see ``none``. Source: realtime reference, sections 12.2 and 12.4.
public struct RulesQuery: Sendable {
  /// The sort order of the children.
  public enum Order: Hashable, Sendable {
    /// The key, the value or the priority of each child.
    case key, value, priority
    /// The path below each child, such as `a/b`.
    case child(String)
  }

  /// The sort order of the children.
  public var order: Order
  /// The start of the range; `nil` for an open start. A bound may be `null` itself, which rules
  /// cannot tell from none.
  public var start: TreeScalar?
  /// The end of the range; `nil` for an open end.
  public var end: TreeScalar?
  /// The one value asked for; `nil` when the query is a range.
  public var equal: TreeScalar?
  /// The number of children kept from the start.
  ///
  /// The initializer from a ``TreeQuery`` sets ``firstLimit`` or ``lastLimit``, never both.
  public var firstLimit: Int?
  /// The number of children kept from the end.
  public var lastLimit: Int?

  /// A read without a query: by key, unbounded.
  public static let none = RulesQuery()

  /// Everything, in an order; the range and the limits are set afterwards.
  public init(order: Order = .key) {
    self.order = order
  }

  /// Returns the member of `query` as a rule reads it; `null` for what the query does not set.
  func value(of member: Operation.QueryMember) -> RuleValue {
    switch member {
    case .orderByKey: .bool(order == .key)
    case .orderByValue: .bool(order == .value)
    case .orderByPriority: .bool(order == .priority)
    case .orderByChild: if case .child(let path) = order { .text(path) } else { .null }
    case .startAt: start.map(RuleValue.init) ?? .null
    case .endAt: end.map(RuleValue.init) ?? .null
    case .equalTo: equal.map(RuleValue.init) ?? .null
    case .limitToFirst: firstLimit.map { .integer(Int64($0)) } ?? .null
    case .limitToLast: lastLimit.map { .integer(Int64($0)) } ?? .null
    }
  }
}

extension RulesQuery {
  /// Creates the rules' view of a query.
  ///
  /// A query for everything counts as one by key, as if none had been given. A range of a single
  /// value sets `equalTo` besides its two bounds; exclusive bounds look like inclusive ones.
  public init(_ query: TreeQuery) {
    switch query.order {
    case .key: order = .key
    case .value: order = .value
    case .priority: order = query.loadsAllData ? .key : .priority
    case .child(let path): order = .child(path.text)
    }
    start = query.start?.value
    end = query.end?.value
    if let first = query.start, first == query.end, first.isInclusive { equal = first.value }
    switch query.limit {
    case .some(let limit) where limit.side == .first: firstLimit = limit.count
    case .some(let limit): lastLimit = limit.count
    case .none: break
    }
  }
}
