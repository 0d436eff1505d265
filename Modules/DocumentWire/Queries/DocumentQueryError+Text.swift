package import TernQuery

extension DocumentQueryError {
  /// The rule that is broken, in words.
  ///
  /// Our own client shows it for a query that the application builds. Requests are checked by
  /// ``QueryParts`` first, in the words of the service.
  package var text: String {
    switch self {
    case .conflictingOperators(let one, let other):
      "\(one.rawValue) cannot stand beside \(other.rawValue)"
    case .notInWithOr: "not-in cannot stand in a query with OR"
    case .operandNotArray(let comparison):
      "\(comparison.rawValue) takes an array of at least one value"
    case .tooManyValues(let comparison, let count, let limit):
      "\(comparison.rawValue) takes at most \(limit) values, not \(count)"
    case .severalArrayFilters: "only one array filter may stand in each alternative"
    case .tooManyDisjunctions(let count, let limit):
      "the filters have \(count) alternatives, at most \(limit) are allowed"
    case .tooManyInequalityFields(let count, let limit):
      "range filters on \(count) fields, at most \(limit) are allowed"
    case .tooManyClauses(let count, let limit):
      "\(count) filters and orders, at most \(limit) are allowed"
    case .emptyComposite: "a composite filter has no members"
    case .arrayFilterOnKey: "array filters do not apply to __name__"
    case .invalidKeyOperand: "__name__ is compared with documents of the collection only"
    case .keyEqualityWithRange: "one __name__ cannot be asked for beside range filters on fields"
    case .rangeOverNull: "a range cannot be over null"
    case .pendingOperand: "an operand is a server timestamp that is not known yet"
    case .orderAfterCursor: "the order comes before cursors"
    case .cursorCount(let count, let orders):
      "a cursor of \(count) values for an order of \(orders) fields"
    case .cursorDocumentMissing(let key): "the document \(key) of a cursor does not exist"
    case .cursorFieldMissing(let path): "the document of a cursor lacks \(path)"
    case .cursorFieldPending(let path):
      "\(path) of a cursor's document is a server timestamp that is not known yet"
    case .limitOutOfRange(let count): "a limit of \(count) is not in 1..<2^31"
    case .offsetOutOfRange(let count): "an offset of \(count) is not in 0..<2^31"
    case .limitToLastWithoutOrder: "the last documents need an order"
    case .aggregationCount(let count, let limit):
      "\(count) aggregations, 1 to \(limit) are allowed"
    case .aliasRepeated(let alias): "two aggregations are named \(alias)"
    case .countLimitOutOfRange(let count): "a count up to \(count) counts nothing"
    case .document(let error): error.text
    }
  }
}
