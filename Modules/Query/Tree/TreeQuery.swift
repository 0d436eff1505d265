public import TernCore

/// A query for children of one node, with the order of its result.
///
/// Built by refining ``all``; each refinement checks the whole.
/// Source: realtime reference, section 3.
public struct TreeQuery: Sendable {
  /// By what the children are sorted.
  public internal(set) var order: TreeOrder = .priority

  /// The beginning of the range; `nil` at the first child.
  public internal(set) var start: TreeBound?

  /// The end of the range; `nil` at the last child.
  public internal(set) var end: TreeBound?

  /// The greatest number of children, and the side of the range from which they are counted.
  public internal(set) var limit: TreeLimit?

  /// True when an order was requested, even the default one; a second request is an error.
  var isOrdered = false

  /// Everything, by priority.
  public static let all = TreeQuery()

  /// Assembles a query from parts that need no checking.
  package init(
    order: TreeOrder = .priority, start: TreeBound? = nil, end: TreeBound? = nil,
    limit: TreeLimit? = nil
  ) {
    self.order = order
    self.start = start
    self.end = end
    self.limit = limit
  }

  /// True for ``all``.
  public var isDefault: Bool { loadsAllData && order == .priority }

  /// True when every child belongs to the result, whatever the order.
  public var loadsAllData: Bool { start == nil && end == nil && limit == nil }

  /// The query a server is asked: ``all`` when everything is wanted, else this one.
  public var normalized: TreeQuery { loadsAllData ? .all : self }
}

extension TreeQuery: Hashable {
  public static func == (left: TreeQuery, right: TreeQuery) -> Bool {
    left.order == right.order && left.start == right.start && left.end == right.end
      && left.limit == right.limit
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(order)
    hasher.combine(start)
    hasher.combine(end)
    hasher.combine(limit)
  }
}

/// One end of a range: a value, and a key among the children of that value.
public struct TreeBound: Hashable, Sendable {
  /// The value to compare with a child's sort value; `nil` is null. The key itself in key order.
  public let value: TreeScalar?

  /// The position among children of equal value; `nil` includes or excludes all of them.
  public let key: TreeKey?

  /// True when a child exactly at the bound belongs to the range.
  public let isInclusive: Bool

  /// Makes a bound; by default it includes what lies exactly on it.
  public init(_ value: TreeScalar?, key: TreeKey? = nil, isInclusive: Bool = true) {
    self.value = value
    self.key = key
    self.isInclusive = isInclusive
  }
}

/// The greatest number of children in a query's result.
public struct TreeLimit: Hashable, Sendable {
  /// The side of the range from which children are counted.
  public enum Side: Hashable, Sendable {
    /// The low or the high end of the range.
    case first, last
  }

  /// The most children, 1..<2^31.
  public let count: Int

  /// The side of the range that is kept.
  public let side: Side

  package init(_ side: Side, _ count: Int) {
    self.side = side
    self.count = count
  }
}
