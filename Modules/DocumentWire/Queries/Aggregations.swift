import TernCore
import TernQuery

/// `StructuredAggregationQuery` and its result. Source: documents reference, section 2.9.
extension ProtoReader {
  mutating func aggregationQuery(
    below parent: DocumentKey?, _ names: DocumentNames
  ) throws(DocumentWireError) -> (DocumentQuery, [DocumentAggregation]) {
    var query: DocumentQuery?
    var aggregations: [DocumentAggregation] = []
    while let field = try next() {
      switch field {
      case 1:
        var message = try message()
        query = try message.query(below: parent, names)
      case 3: aggregations.append(try aggregation(aggregations.count))
      default: try skip()
      }
    }
    guard let query else { throw .member("an aggregation has a query") }
    do throws(DocumentQueryError) {
      try DocumentAggregation.check(aggregations)
    } catch {
      throw .member(error.aggregationText)
    }
    return (query, aggregations)
  }

  private mutating func aggregation(
    _ index: Int
  ) throws(DocumentWireError) -> DocumentAggregation {
    // What has no name gets one, as other servers do.
    var alias = "field_\(index + 1)"
    var function: DocumentAggregation.Function?
    var message = try message()
    while let field = try message.next() {
      switch field {
      case 1: function = .count(upTo: try message.bound())
      case 2: function = .sum(try message.operand())
      case 3: function = .average(try message.operand())
      case 7:
        let name = try message.string()
        if !name.isEmpty { alias = name }
      default: try message.skip()
      }
    }
    guard let function else { throw .member("Unknown aggregation operator.") }
    return DocumentAggregation(alias, function)
  }

  private mutating func bound() throws(DocumentWireError) -> Int? {
    var bound: Int?
    var message = try message()
    while let field = try message.next() {
      if field == 1 { bound = Int(try message.wrappedInt()) } else { try message.skip() }
    }
    return bound
  }

  private mutating func operand() throws(DocumentWireError) -> DocumentFieldPath {
    var path: DocumentFieldPath?
    var message = try message()
    while let field = try message.next() {
      if field == 1 { path = try message.reference() } else { try message.skip() }
    }
    guard let path else { throw .member("Invalid empty property path string.") }
    if path.isKey {
      throw .member("Aggregations are not supported for the property: __key__")
    }
    try path.checkQueried()
    return path
  }
}

extension DocumentQueryError {
  /// The rule of aggregations that is broken, in the words of the service.
  fileprivate var aggregationText: String {
    switch self {
    case .aggregationCount(0, _): "Aggregations can not be empty."
    case .aggregationCount(let count, let limit):
      "The maximum number of aggregations allowed in an aggregation query is \(limit). "
        + "Received: \(count)."
    case .aliasRepeated(let alias):
      "Aggregation aliases contain duplicate alias: \(alias)."
    case .countLimitOutOfRange: "up_to must be greater than zero."
    default: text
    }
  }
}

extension ProtoWriter {
  /// Aggregations keep the order that was asked for: it must not demand further fields.
  mutating func aggregation(
    _ field: Int, _ query: DocumentQuery, _ aggregations: [DocumentAggregation]
  ) {
    let mark = begin(field)
    self.query(1, query, isExplicit: true)
    for aggregation in aggregations {
      let item = begin(3)
      function(aggregation.function)
      string(7, aggregation.alias)
      end(item)
    }
    end(mark)
  }

  private mutating func function(_ function: DocumentAggregation.Function) {
    switch function {
    case .count(let bound):
      let mark = begin(1)
      if let bound { wrapped(1, bound) }
      end(mark)
    case .sum(let path):
      let mark = begin(2)
      reference(1, path)
      end(mark)
    case .average(let path):
      let mark = begin(3)
      reference(1, path)
      end(mark)
    }
  }
}
