public import TernCore

extension TreeQuery {
  /// Sorts by `order`; at most once.
  ///
  /// - Throws: ``TreeQueryError/orderAlreadySet``, ``TreeQueryError/emptyChildPath``, or an error
  ///   about a bound that does not fit the order.
  public func ordered(by order: TreeOrder) throws(TreeQueryError) -> TreeQuery {
    if isOrdered { throw .orderAlreadySet }
    if case .child(let path) = order, path.isRoot { throw .emptyChildPath }
    return try refined { query in
      query.order = order
      query.isOrdered = true
    }
  }

  /// Sorts by what is at a path below each child, such as `height` or `metrics/height`.
  ///
  /// - Throws: ``TreeQueryError/reservedChildPath(_:)``, ``TreeQueryError/tree(_:)``, and what
  ///   ``ordered(by:)`` throws.
  public func ordered(byChild path: String) throws(TreeQueryError) -> TreeQuery {
    let reserved = ["$key", "$priority", "$value", ".key", ".priority", ".value"]
    if reserved.contains(path) { throw .reservedChildPath(path) }
    let parsed: TreePath
    do throws(TreeError) { parsed = try TreePath(path) } catch { throw .tree(error) }
    return try ordered(by: .child(parsed))
  }

  /// Begins at a value, and at `key` among the children of that value.
  ///
  /// - Throws: ``TreeQueryError/startAlreadySet``, or an error about a bound that does not fit the
  ///   order.
  public func starting(
    at value: TreeScalar?, key: TreeKey? = nil
  ) throws(TreeQueryError) -> TreeQuery {
    try starting(TreeBound(value, key: key))
  }

  /// Begins behind a value, or behind `key` among the children of that value.
  public func starting(
    after value: TreeScalar?, key: TreeKey? = nil
  ) throws(TreeQueryError) -> TreeQuery {
    try starting(TreeBound(value, key: key, isInclusive: false))
  }

  /// Ends at a value, and at `key` among the children of that value.
  public func ending(
    at value: TreeScalar?, key: TreeKey? = nil
  ) throws(TreeQueryError) -> TreeQuery {
    try ending(TreeBound(value, key: key))
  }

  /// Ends before a value, or before `key` among the children of that value.
  public func ending(
    before value: TreeScalar?, key: TreeKey? = nil
  ) throws(TreeQueryError) -> TreeQuery {
    try ending(TreeBound(value, key: key, isInclusive: false))
  }

  /// Keeps children of exactly this value, and of this key when one is given.
  ///
  /// It sets both ends, so it excludes every other start and end.
  public func equal(
    to value: TreeScalar?, key: TreeKey? = nil
  ) throws(TreeQueryError) -> TreeQuery {
    try starting(at: value, key: key).ending(at: value, key: key)
  }

  /// Keeps the first `count` children of the range.
  public func first(_ count: Int) throws(TreeQueryError) -> TreeQuery {
    try limited(.first, count)
  }

  /// Keeps the last `count` children of the range.
  public func last(_ count: Int) throws(TreeQueryError) -> TreeQuery {
    try limited(.last, count)
  }

  private func starting(_ bound: TreeBound) throws(TreeQueryError) -> TreeQuery {
    if start != nil { throw .startAlreadySet }
    return try refined { $0.start = bound }
  }

  private func ending(_ bound: TreeBound) throws(TreeQueryError) -> TreeQuery {
    if end != nil { throw .endAlreadySet }
    return try refined { $0.end = bound }
  }

  private func limited(_ side: TreeLimit.Side, _ count: Int) throws(TreeQueryError) -> TreeQuery {
    if limit != nil { throw .limitAlreadySet }
    guard (1...Int(Int32.max)).contains(count) else { throw .limitOutOfRange(count) }
    return try refined { $0.limit = TreeLimit(side, count) }
  }

  /// Returns the query after a change, if its bounds fit its order.
  ///
  /// Both bounds are checked after every step, because an order may be set after them.
  private func refined(_ change: (inout TreeQuery) -> Void) throws(TreeQueryError) -> TreeQuery {
    var copy = self
    change(&copy)
    try copy.check(copy.start)
    try copy.check(copy.end)
    return copy
  }

  private func check(_ bound: TreeBound?) throws(TreeQueryError) {
    guard let bound else { return }
    switch bound.value {
    case .serverValue: throw .invalidBound
    case .double(let value) where !value.isFinite: throw .invalidBound
    case nil, .bool, .integer, .double, .string: break
    }
    switch order {
    case .key:
      guard case .string = bound.value else { throw .keyBoundNotString }
      if bound.key != nil { throw .keyBoundWithKey }
    case .priority:
      if case .bool = bound.value { throw .invalidPriorityBound }
    case .value, .child: break
    }
  }
}
