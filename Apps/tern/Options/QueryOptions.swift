import ArgumentParser
import TernCore
import TernQuery

/// The order, range and limit of a query, as flags.
struct QueryOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Order by the value at a path below each child.", valueName: "path"))
  var orderByChild: String?

  @Flag(help: "Order by key.")
  var orderByKey = false

  @Flag(help: "Order by the children's own values.")
  var orderByValue = false

  @Flag(help: "Order by priority, which is the default.")
  var orderByPriority = false

  @Option(help: ArgumentHelp("From this value on.", valueName: "json"))
  var startAt: String?

  @Option(help: ArgumentHelp("From behind this value on.", valueName: "json"))
  var startAfter: String?

  @Option(help: ArgumentHelp("Up to this value.", valueName: "json"))
  var endAt: String?

  @Option(help: ArgumentHelp("Up to before this value.", valueName: "json"))
  var endBefore: String?

  @Option(help: ArgumentHelp("Only this value.", valueName: "json"))
  var equalTo: String?

  @Option(help: ArgumentHelp("The first so many children.", valueName: "count"))
  var first: Int?

  @Option(help: ArgumentHelp("The last so many children.", valueName: "count"))
  var last: Int?

  /// The query the flags describe.
  ///
  /// - Throws: ``Failure`` with ``Outcome/usage`` for flags that do not go together.
  func query() throws(Failure) -> TreeQuery {
    let orders = [orderByChild != nil, orderByKey, orderByValue, orderByPriority]
    guard orders.count(where: { $0 }) <= 1 else {
      throw Failure(.usage, TreeQueryError.orderAlreadySet.rule)
    }
    let bounds = Bounds(
      startAt: try scalar(startAt, "--start-at"),
      startAfter: try scalar(startAfter, "--start-after"),
      endAt: try scalar(endAt, "--end-at"), endBefore: try scalar(endBefore, "--end-before"),
      equalTo: try scalar(equalTo, "--equal-to"))
    do throws(TreeQueryError) {
      return try limited(bounds.applied(to: ordered(.all)))
    } catch {
      throw Failure(.usage, error.rule)
    }
  }

  private func ordered(_ query: TreeQuery) throws(TreeQueryError) -> TreeQuery {
    if let orderByChild { return try query.ordered(byChild: orderByChild) }
    if orderByKey { return try query.ordered(by: .key) }
    if orderByValue { return try query.ordered(by: .value) }
    return orderByPriority ? try query.ordered(by: .priority) : query
  }

  private func limited(_ query: TreeQuery) throws(TreeQueryError) -> TreeQuery {
    var query = query
    if let first { query = try query.first(first) }
    if let last { query = try query.last(last) }
    return query
  }
}

/// The bounds that were given; `.some(nil)` is null.
private struct Bounds {
  var startAt: TreeScalar??
  var startAfter: TreeScalar??
  var endAt: TreeScalar??
  var endBefore: TreeScalar??
  var equalTo: TreeScalar??

  func applied(to query: TreeQuery) throws(TreeQueryError) -> TreeQuery {
    var query = query
    if let startAt { query = try query.starting(at: startAt) }
    if let startAfter { query = try query.starting(after: startAfter) }
    if let endAt { query = try query.ending(at: endAt) }
    if let endBefore { query = try query.ending(before: endBefore) }
    if let equalTo { query = try query.equal(to: equalTo) }
    return query
  }
}
