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
    let (value, key) = (bound(startValue), self.key(childKey))
    return refined { query throws(TreeQueryError) in try query.starting(at: value, key: key) }
  }

  /// Starts after `startValue`, and there after `childKey` when it is given.
  public func queryStarting(
    afterValue startValue: Any?, childKey: String? = nil
  ) -> DatabaseQuery {
    let (value, key) = (bound(startValue), self.key(childKey))
    return refined { query throws(TreeQueryError) in try query.starting(after: value, key: key) }
  }

  /// Ends at `endValue`, and there at `childKey` when it is given.
  public func queryEnding(atValue endValue: Any?, childKey: String? = nil) -> DatabaseQuery {
    let (value, key) = (bound(endValue), self.key(childKey))
    return refined { query throws(TreeQueryError) in try query.ending(at: value, key: key) }
  }

  /// Ends before `endValue`, and there before `childKey` when it is given.
  public func queryEnding(beforeValue endValue: Any?, childKey: String? = nil) -> DatabaseQuery {
    let (value, key) = (bound(endValue), self.key(childKey))
    return refined { query throws(TreeQueryError) in try query.ending(before: value, key: key) }
  }

  /// Keeps the children at `value`, and only `childKey` when it is given.
  public func queryEqual(toValue value: Any?, childKey: String? = nil) -> DatabaseQuery {
    let (value, key) = (bound(value), self.key(childKey))
    return refined { query throws(TreeQueryError) in try query.equal(to: value, key: key) }
  }

  private func bound(_ value: Any?) -> TreeScalar? {
    do throws(DatabaseValueError) {
      let node = try TreeNode(foundation: value)
      precondition(!node.hasChildren, "A bound is a string, a number, a boolean or nil.")
      return node.scalar
    } catch {
      preconditionFailure("This is not a bound: \(error)")
    }
  }

  private func key(_ text: String?) -> TreeKey? {
    guard let text else { return nil }
    let path = Misuse.path(text)
    precondition(path.count == 1, "\"\(text)\" is not a key: it has \(path.count) segments.")
    return path.first
  }
}
