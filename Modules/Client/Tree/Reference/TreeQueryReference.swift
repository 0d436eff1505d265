public import TernCore
package import TernQuery

/// A query at a location in the tree. Creating one performs no I/O.
///
/// A query that cannot be made (two orders, a limit of zero) throws the broken rule when it is
/// used.
public struct TreeQueryReference: Sendable {
  /// The place that is queried.
  public let reference: TreeReference
  let query: Result<TreeQuery, TreeQueryError>

  init(_ reference: TreeReference, _ query: Result<TreeQuery, TreeQueryError>) {
    self.reference = reference
    self.query = query
  }

  /// A query at a place.
  package init(_ reference: TreeReference, query: TreeQuery) {
    self.init(reference, .success(query))
  }
}

extension TreeQueryReference: Equatable {
  /// Returns true when both are the same query at the same location.
  public static func == (left: TreeQueryReference, right: TreeQueryReference) -> Bool {
    left.reference == right.reference && left.query == right.query
  }
}

/// A location, or a query at one, that can be refined to a query.
public protocol TreeQuerying: Sendable {
  /// The query so far.
  var queried: TreeQueryReference { get }
}

extension TreeQueryReference: TreeQuerying {
  public var queried: TreeQueryReference { self }
}

extension TreeReference: TreeQuerying {
  public var queried: TreeQueryReference { TreeQueryReference(self, .success(.all)) }
}

extension TreeQuerying {
  /// Sorts by what is at a path below each child, such as `height` or `metrics/height`.
  public func order(byChild path: String) -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.ordered(byChild: path) }
  }

  /// Sorts by name.
  public func orderByKey() -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.ordered(by: .key) }
  }

  /// Sorts by each child's own value.
  public func orderByValue() -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.ordered(by: .value) }
  }

  /// Sorts by priority, the order when none is asked for.
  public func orderByPriority() -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.ordered(by: .priority) }
  }

  /// Begins at a value, and at `key` among the children of that value.
  public func start(at value: TreeScalar?, key: TreeKey? = nil) -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.starting(at: value, key: key) }
  }

  /// Begins behind a value, or behind `key` among the children of that value.
  public func start(after value: TreeScalar?, key: TreeKey? = nil) -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.starting(after: value, key: key) }
  }

  /// Ends at a value, and at `key` among the children of that value.
  public func end(at value: TreeScalar?, key: TreeKey? = nil) -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.ending(at: value, key: key) }
  }

  /// Ends before a value, or before `key` among the children of that value.
  public func end(before value: TreeScalar?, key: TreeKey? = nil) -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.ending(before: value, key: key) }
  }

  /// Keeps children of exactly this value, and of this key when one is given.
  public func equal(to value: TreeScalar?, key: TreeKey? = nil) -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.equal(to: value, key: key) }
  }

  /// Keeps the first `count` children of the range, 1..<2^31.
  public func first(_ count: Int) -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.first(count) }
  }

  /// Keeps the last `count` children of the range, 1..<2^31.
  public func last(_ count: Int) -> TreeQueryReference {
    refined { query throws(TreeQueryError) in try query.last(count) }
  }

  private func refined(
    _ refine: (TreeQuery) throws(TreeQueryError) -> TreeQuery
  ) -> TreeQueryReference {
    let queried = queried
    guard case .success(let query) = queried.query else { return queried }
    do throws(TreeQueryError) {
      return TreeQueryReference(queried.reference, .success(try refine(query)))
    } catch {
      return TreeQueryReference(queried.reference, .failure(error))
    }
  }
}
