import ArgumentParser
import TernClient
import TernCore
import TernQuery

/// The flags of a query: filters, order and limits.
struct DocumentQueryOptions: ParsableArguments {
  @Flag(help: "Take all collections of this id, wherever they are.")
  var group = false

  @Option(
    help: ArgumentHelp(
      "Only those whose field compares: < <= == != > >= in not-in array-contains "
        + "array-contains-any. May be repeated; all must hold.", valueName: "field op json"))
  var `where`: [String] = []

  @Option(
    help: ArgumentHelp(
      "Of those that are given, at least one must hold.", valueName: "field op json"))
  var whereAny: [String] = []

  @Option(
    help: ArgumentHelp("Order by a field; may be repeated.", valueName: "field [desc]"))
  var orderBy: [String] = []

  @Option(help: ArgumentHelp("The first so many.", valueName: "count"))
  var limit: Int?

  @Option(help: ArgumentHelp("The last so many; needs an order.", valueName: "count"))
  var limitToLast: Int?

  @Option(
    help: ArgumentHelp(
      "From this value of the order on; an array is one value a field.", valueName: "json"))
  var startAt: String?

  @Option(help: ArgumentHelp("From behind this value on.", valueName: "json"))
  var startAfter: String?

  @Option(help: ArgumentHelp("Up to this value.", valueName: "json"))
  var endAt: String?

  @Option(help: ArgumentHelp("Up to before this value.", valueName: "json"))
  var endBefore: String?

  func validate() throws {
    let pairs = [
      (startAt, startAfter, "--start-at and --start-after"),
      (endAt, endBefore, "--end-at and --end-before"),
    ]
    for (one, other, names) in pairs where one != nil && other != nil {
      throw ValidationError("only one of \(names) can be given")
    }
    if limit != nil && limitToLast != nil {
      throw ValidationError("only one of --limit and --limit-to-last can be given")
    }
  }
}

extension DocumentQueryOptions {
  /// The query the flags describe.
  ///
  /// - Parameter collection: A path; with `--group` an id.
  /// - Throws: ``Failure`` with ``Outcome/usage``.
  func query(_ collection: String, _ text: DocumentText) throws(Failure) -> DocumentQuery {
    let base: DocumentQuery =
      if group {
        try checked { () throws(DocumentQueryError) in try DocumentQuery.group(collection) }
      } else {
        .collection(try collectionPath(collection))
      }
    let filters = try filters(of: base, text)
    let orders = try orders
    let start = try cursor(startAt ?? startAfter, "--start", text)
    let end = try cursor(endAt ?? endBefore, "--end", text)
    return try checked { () throws(DocumentQueryError) in
      var query = base
      for filter in filters { query = try query.filtered(filter) }
      for (path, isDescending) in orders {
        query = try query.ordered(by: path, isDescending: isDescending)
      }
      if let start {
        query = try query.starting(
          at: bound(start, in: query, text), isInclusive: startAfter == nil)
      }
      if let end {
        query = try query.ending(at: bound(end, in: query, text), isInclusive: endBefore == nil)
      }
      if let limit { query = try query.first(limit) }
      if let limitToLast { query = try query.last(limitToLast) }
      try query.checkExecutable()
      return query
    }
  }

  private func filters(
    of query: DocumentQuery, _ text: DocumentText
  ) throws(Failure) -> [DocumentFilter] {
    var filters: [DocumentFilter] = []
    for words in `where` { filters.append(try WhereText(words, text).filter(of: query, text)) }
    var alternatives: [DocumentFilter] = []
    for words in whereAny {
      alternatives.append(try WhereText(words, text).filter(of: query, text))
    }
    return alternatives.isEmpty ? filters : filters + [.or(alternatives)]
  }

  private var orders: [(path: DocumentFieldPath, isDescending: Bool)] {
    get throws(Failure) {
      var orders: [(path: DocumentFieldPath, isDescending: Bool)] = []
      for words in orderBy.map({ $0[...].trimmed }) {
        let parts = words.split(separator: " ")
        let last = parts.count > 1 ? parts[parts.count - 1].lowercased() : ""
        let isDescending = ["desc", "descending"].contains(last)
        let isDirection = isDescending || ["asc", "ascending"].contains(last)
        let name = isDirection ? words.dropLast(last.count) : words[...]
        orders.append((try fieldPath(name.trimmed), isDescending))
      }
      return orders
    }
  }

  private func cursor(
    _ json: String?, _ flag: String, _ text: DocumentText
  ) throws(Failure) -> [DocumentValue]? {
    guard let json else { return nil }
    let value = try text.value(json, flag)
    if case .array(let values) = value { return values }
    return [value]
  }

  /// The values of a cursor; texts that stand for keys become references.
  private func bound(
    _ values: [DocumentValue], in query: DocumentQuery, _ text: DocumentText
  ) throws(DocumentQueryError) -> [DocumentValue] {
    var bound: [DocumentValue] = []
    for (index, value) in values.enumerated() {
      let isKey = index < query.orders.count && query.orders[index].path.isKey
      bound.append(isKey ? try text.keyOperand(value, of: query) : value)
    }
    return bound
  }
}

/// A condition as it is written on the command line: field, operator, JSON.
struct WhereText {
  let path: DocumentFieldPath
  let comparison: DocumentOperator
  let operand: DocumentValue

  private static let operators: [(text: String, meaning: DocumentOperator)] = [
    ("<=", .lessThanOrEqual), ("<", .lessThan), ("==", .equal), ("!=", .notEqual),
    (">=", .greaterThanOrEqual), (">", .greaterThan), ("in", .in), ("not-in", .notIn),
    ("array-contains-any", .arrayContainsAny), ("array-contains", .arrayContains),
  ]

  /// Reads it; the operator is the first one that stands between spaces, outside of the backticks
  /// of a name.
  init(_ words: String, _ text: DocumentText) throws(Failure) {
    let rest = words[Self.quotedEnd(of: words)...]
    let found = Self.operators.compactMap { candidate in
      rest.firstRange(of: " \(candidate.text) ").map { (place: $0, candidate.meaning) }
    }.min { $0.place.lowerBound < $1.place.lowerBound }
    guard let (place, meaning) = found else {
      throw Failure(
        .usage,
        "\"\(words)\" is no condition; one is: population > 500000, with an operator of "
          + Self.operators.map(\.text).joined(separator: " "))
    }
    path = try fieldPath(words[..<place.lowerBound].trimmed)
    comparison = meaning
    operand = try text.value(String(words[place.upperBound...]), "\"\(words)\"")
  }

  /// The end of the names in backticks at the start of a condition; its start when there are none.
  private static func quotedEnd(of words: String) -> String.Index {
    var end = words.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in words.indices {
      switch words[index] {
      case _ where isEscaped: isEscaped = false
      case "\\": isEscaped = true
      case "`":
        isQuoted.toggle()
        if !isQuoted { end = words.index(after: index) }
      case " " where !isQuoted: return end
      default: break
      }
    }
    return end
  }

  /// The condition; texts that are compared with the key become references.
  func filter(of query: DocumentQuery, _ text: DocumentText) throws(Failure) -> DocumentFilter {
    try checked { () throws(DocumentQueryError) in
      .where(path, comparison, path.isKey ? try text.keyOperand(operand, of: query) : operand)
    }
  }
}

extension Substring {
  /// The text without spaces at its ends.
  fileprivate var trimmed: String {
    let text = drop { $0 == " " }
    return String(
      text[..<(text.lastIndex { $0 != " " }.map { text.index(after: $0) } ?? text.startIndex)])
  }
}

/// Returns the result of `work`, or the rule of queries that it breaks.
func checked<R>(_ work: () throws(DocumentQueryError) -> R) throws(Failure) -> R {
  do throws(DocumentQueryError) { return try work() } catch {
    let advice =
      if case .cursorCount = error { "; add --order-by for each value" } else { "" }
    throw Failure(.usage, "\(DocumentsError.invalidQuery(error))\(advice)")
  }
}
