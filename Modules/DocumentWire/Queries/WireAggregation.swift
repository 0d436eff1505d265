import TernCore
import TernQuery

/// `StructuredAggregationQuery` and its result. Source: documents reference, section 2.9.
enum WireAggregation {
  /// Reads a `StructuredAggregationQuery`.
  ///
  /// Fields: 1 query, 3 aggregations. Limit and order of the query count: they choose the documents
  /// that are aggregated.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` in the words of the service.
  static func read(
    _ reader: inout ProtoReader, below parent: DocumentKey?, _ names: DocumentNames
  ) throws(DocumentWireError) -> (DocumentQuery, [DocumentAggregation]) {
    var query: DocumentQuery?
    var aggregations: [DocumentAggregation] = []
    while let field = try reader.next() {
      switch field {
      case 1:
        var message = try reader.message()
        query = try WireQuery.query(&message, below: parent, names)
      case 3: aggregations.append(try aggregation(&reader, aggregations.count))
      default: try reader.skip()
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

  /// Reads an `Aggregation`.
  ///
  /// Fields: 1 count, 2 sum, 3 average, 7 alias.
  ///
  /// - Parameter index: The position of the aggregation, from 0; it makes the default alias.
  private static func aggregation(
    _ reader: inout ProtoReader, _ index: Int
  ) throws(DocumentWireError) -> DocumentAggregation {
    // What has no name gets one, as other servers do.
    var alias = "field_\(index + 1)"
    var function: DocumentAggregation.Function?
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: function = .count(upTo: try bound(&message))
      case 2: function = .sum(try operand(&message))
      case 3: function = .average(try operand(&message))
      case 7:
        let name = try message.string()
        if !name.isEmpty { alias = name }
      default: try message.skip()
      }
    }
    guard let function else { throw .member("Unknown aggregation operator.") }
    return DocumentAggregation(alias, function)
  }

  /// Reads a `Count`: the number up to which documents are counted.
  ///
  /// - Returns: `nil` to count all documents. A bound below 1 is rejected when all aggregations are
  ///   read.
  private static func bound(_ reader: inout ProtoReader) throws(DocumentWireError) -> Int? {
    var bound: Int?
    var message = try reader.message()
    while let field = try message.next() {
      if field == 1 { bound = Int(try message.wrappedInt()) } else { try message.skip() }
    }
    return bound
  }

  /// Reads a `Sum` or an `Avg`: the field that is aggregated.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` without a field, for the key, and for a reserved
  ///   name.
  private static func operand(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentFieldPath {
    var path: DocumentFieldPath?
    var message = try reader.message()
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
  ///
  /// All other rules have no text of their own in the service.
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

extension WireAggregation {
  /// Aggregations keep the order that was asked for: it must not demand further fields.
  ///
  /// Writes a `StructuredAggregationQuery`.
  ///
  /// - Parameters:
  ///   - query: Sent with its explicit order alone. An implied order over a field would leave out
  ///     the documents that lack it.
  static func write(
    _ field: Int, _ query: DocumentQuery, _ aggregations: [DocumentAggregation],
    to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(field)
    WireQuery.query(1, query, isExplicit: true, to: &writer)
    for aggregation in aggregations {
      let item = writer.begin(3)
      function(aggregation.function, to: &writer)
      writer.string(7, aggregation.alias)
      writer.end(item)
    }
    writer.end(mark)
  }

  /// Writes the one operator that an `Aggregation` has.
  private static func function(
    _ function: DocumentAggregation.Function, to writer: inout ProtoWriter
  ) {
    switch function {
    case .count(let bound):
      let mark = writer.begin(1)
      if let bound { writer.wrapped(1, bound) }
      writer.end(mark)
    case .sum(let path):
      let mark = writer.begin(2)
      writer.reference(1, path)
      writer.end(mark)
    case .average(let path):
      let mark = writer.begin(3)
      writer.reference(1, path)
      writer.end(mark)
    }
  }
}
