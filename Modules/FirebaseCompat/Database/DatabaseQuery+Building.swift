import TernCore
import TernQuery

extension DatabaseQuery {
  /// Orders by what is at a path below each child.
  public func queryOrdered(byChild path: String) -> DatabaseQuery {
    refined { query throws(TreeQueryError) in try query.ordered(byChild: path) }
  }

  /// Orders by key.
  public func queryOrderedByKey() -> DatabaseQuery {
    refined { query throws(TreeQueryError) in try query.ordered(by: .key) }
  }

  /// Orders by each child's own value.
  public func queryOrderedByValue() -> DatabaseQuery {
    refined { query throws(TreeQueryError) in try query.ordered(by: .value) }
  }

  /// Orders by priority, as queries do unless told otherwise.
  public func queryOrderedByPriority() -> DatabaseQuery {
    refined { query throws(TreeQueryError) in try query.ordered(by: .priority) }
  }

  /// Keeps the first `limit` children.
  public func queryLimited(toFirst limit: UInt) -> DatabaseQuery {
    refined { query throws(TreeQueryError) in try query.first(Int(clamping: limit)) }
  }

  /// Keeps the last `limit` children.
  public func queryLimited(toLast limit: UInt) -> DatabaseQuery {
    refined { query throws(TreeQueryError) in try query.last(Int(clamping: limit)) }
  }

  /// Starts at `startValue`, and there at `childKey` when it is given.
  public func queryStarting(atValue startValue: Any?, childKey: String? = nil) -> DatabaseQuery {
    bounded(startValue, childKey) { query, value, key throws(TreeQueryError) in
      try query.starting(at: value, key: key)
    }
  }

  /// Starts after `startValue`, and there after `childKey` when it is given.
  public func queryStarting(
    afterValue startValue: Any?, childKey: String? = nil
  ) -> DatabaseQuery {
    bounded(startValue, childKey) { query, value, key throws(TreeQueryError) in
      try query.starting(after: value, key: key)
    }
  }

  /// Ends at `endValue`, and there at `childKey` when it is given.
  public func queryEnding(atValue endValue: Any?, childKey: String? = nil) -> DatabaseQuery {
    bounded(endValue, childKey) { query, value, key throws(TreeQueryError) in
      try query.ending(at: value, key: key)
    }
  }

  /// Ends before `endValue`, and there before `childKey` when it is given.
  public func queryEnding(beforeValue endValue: Any?, childKey: String? = nil) -> DatabaseQuery {
    bounded(endValue, childKey) { query, value, key throws(TreeQueryError) in
      try query.ending(before: value, key: key)
    }
  }

  /// Keeps the children at `value`, and only `childKey` when it is given.
  public func queryEqual(toValue value: Any?, childKey: String? = nil) -> DatabaseQuery {
    bounded(value, childKey) { query, value, key throws(TreeQueryError) in
      try query.equal(to: value, key: key)
    }
  }

  /// Makes a query with a bound, of a value and perhaps a key.
  private func bounded(
    _ value: Any?, _ childKey: String?,
    _ change: (TreeQuery, TreeScalar?, TreeKey?) throws(TreeQueryError) -> TreeQuery
  ) -> DatabaseQuery {
    let bound: TreeScalar?
    do throws(DatabaseValueError) {
      let node = try TreeNode(foundation: value)
      if node.hasChildren {
        return refused("A bound is a string, a number, a boolean or nil.")
      }
      bound = node.scalar
    } catch {
      return refused("This is not a bound: \(error)")
    }
    var key: TreeKey?
    if let childKey {
      do throws(TreeError) { key = try TreeKey(childKey) } catch {
        return refused("\"\(childKey)\" is not a key: \(error)")
      }
    }
    return refined { query throws(TreeQueryError) in try change(query, bound, key) }
  }
}
