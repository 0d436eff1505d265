public import TernCore

/// One number computed over the result of a query. Source: documents reference, section 2.9.
public struct DocumentAggregation: Hashable, Sendable {
  /// The function to compute.
  public enum Function: Hashable, Sendable {
    /// The number of documents, counted no further than a limit.
    case count(upTo: Int?)
    /// The sum of a field where it is a number; whole unless it overflows; 0 of nothing.
    case sum(DocumentFieldPath)
    /// The mean of a field where it is a number; null of nothing.
    case average(DocumentFieldPath)
  }

  /// The name of the result.
  public let alias: String
  /// The function to compute.
  public let function: Function

  /// Names what is computed.
  public init(_ alias: String, _ function: Function) {
    self.alias = alias
    self.function = function
  }

  /// The fields that every document counted has: once one field is summed, counts see no others.
  package static func requiredFields(of aggregations: [DocumentAggregation]) -> [DocumentFieldPath]
  {
    aggregations.compactMap { aggregation in
      switch aggregation.function {
      case .sum(let path), .average(let path): path
      case .count: nil
      }
    }
  }

  /// Checks what is asked for in one request.
  ///
  /// - Throws: ``DocumentQueryError/aggregationCount(_:limit:)``,
  ///   ``DocumentQueryError/aliasRepeated(_:)``,
  ///   ``DocumentQueryError/countLimitOutOfRange(_:)``.
  public static func check(
    _ aggregations: [DocumentAggregation]
  ) throws(DocumentQueryError) {
    let limit = DocumentQueryLimits.aggregations
    guard 1...limit ~= aggregations.count else {
      throw .aggregationCount(aggregations.count, limit: limit)
    }
    for (index, aggregation) in aggregations.enumerated() {
      let alias = aggregation.alias
      if aggregations[..<index].contains(where: { $0.alias.hasSameBytes(as: alias) }) {
        throw .aliasRepeated(alias)
      }
      if case .count(let bound?) = aggregation.function, bound < 1 {
        throw .countLimitOutOfRange(bound)
      }
    }
  }

  /// Computes over documents that are a query's result, each field on its own.
  ///
  /// - Returns: One value per aggregation, in their order.
  ///
  /// A count includes every document: a caller that mixes counts with sums passes only documents
  /// that have `requiredFields(of:)`, as servers do.
  public static func compute(
    _ aggregations: [DocumentAggregation], over documents: some Sequence<Document>
  ) -> [DocumentValue] {
    var totals = aggregations.map { _ in Total() }
    for document in documents {
      for (index, aggregation) in aggregations.enumerated() {
        totals[index].add(aggregation.function, document)
      }
    }
    return zip(aggregations, totals).map { $1.value(of: $0.function) }
  }
}

/// The intermediate result of an aggregation.
///
/// Sums of doubles depend on the order of the documents; sums of integers do not.
private struct Total {
  private var count = 0
  /// The whole numbers are `overflows` times 2^64 and `integers` together: in whatever order they
  /// come, only their sum decides whether it fits.
  private var integers: Int64 = 0
  private var overflows = 0
  private var doubles: Double = 0
  private var hasDoubles = false

  mutating func add(_ function: DocumentAggregation.Function, _ document: Document) {
    switch function {
    case .count: count += 1
    case .sum(let path), .average(let path):
      guard let number = DocumentNumber(document.fields?[path]) else { return }
      count += 1
      add(number)
    }
  }

  private mutating func add(_ number: DocumentNumber) {
    switch number {
    case .double(let double):
      hasDoubles = true
      doubles += double
    case .integer(let integer):
      let (sum, hasOverflown) = integers.addingReportingOverflow(integer)
      integers = sum
      if hasOverflown { overflows += integer < 0 ? -1 : 1 }
    }
  }

  /// Everything, as near as a double comes to it.
  private var double: Double { doubles + (Double(overflows) * 0x1p64 + Double(integers)) }

  /// Returns the result of the aggregation.
  ///
  /// The sum is an integer only if all numbers were and it fits 64 bits.
  func value(of function: DocumentAggregation.Function) -> DocumentValue {
    switch function {
    case .count(let bound): .integer(Int64(min(count, bound ?? count)))
    case .sum: hasDoubles || overflows != 0 ? .double(double) : .integer(integers)
    case .average: count == 0 ? .null : .double(double / Double(count))
    }
  }
}
