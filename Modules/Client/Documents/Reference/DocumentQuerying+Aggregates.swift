public import TernCore
import TernDocumentReplica
public import TernQuery

// Numbers over a result, and filters of several fields, in few words.

extension DocumentQuerying {
  /// The number of documents in the result, counted by the server.
  public func count() async throws(DocumentsError) -> Int {
    let values = try await aggregate([DocumentAggregation("count", .count(upTo: nil))])
    guard let count = values["count"]?.integer else { throw DocumentsError.notComputed }
    return Int(count)
  }

  /// The sum of a field over the result, where it is a number, computed by the server: whole
  /// unless it overflows, 0 of nothing.
  ///
  /// - Parameter field: A path, its names joined by dots.
  public func sum(_ field: String) async throws(DocumentsError) -> DocumentNumber {
    let path = try DocumentFieldPath.computed(field)
    let values = try await aggregate([DocumentAggregation("sum", .sum(path))])
    guard let sum = DocumentNumber(values["sum"]) else { throw DocumentsError.notComputed }
    return sum
  }

  /// The mean of a field over the result, where it is a number, computed by the server; `nil` of
  /// nothing.
  ///
  /// - Parameter field: A path, its names joined by dots.
  public func average(_ field: String) async throws(DocumentsError) -> Double? {
    let path = try DocumentFieldPath.computed(field)
    let values = try await aggregate([DocumentAggregation("average", .average(path))])
    guard let average = values["average"] else { throw DocumentsError.notComputed }
    return average.double
  }
}

extension DocumentFilter {
  /// Compares a field, for filters that join several: `cities.filtered(.or([try .where("state",
  /// .equals, "CA"), try .where("n", .greaterThan, 1)]))`.
  ///
  /// - Parameter field: A path, its names joined by dots, or `__name__`.
  /// - Throws: ``DocumentsError/invalidQuery(_:)`` when it is no path.
  public static func `where`(
    _ field: String, _ comparison: DocumentOperator, _ operand: DocumentValue
  ) throws(DocumentsError) -> DocumentFilter {
    .where(try DocumentFieldPath.computed(field), comparison, operand)
  }
}

extension DocumentAggregation.Function {
  /// The sum of a numeric field: `DocumentAggregation("population", try .sum("population"))`.
  ///
  /// - Parameter field: A path, its names joined by dots.
  public static func sum(
    _ field: String
  ) throws(DocumentsError) -> DocumentAggregation.Function {
    .sum(try DocumentFieldPath.computed(field))
  }

  /// The mean of a field where it is a number.
  ///
  /// - Parameter field: A path, its names joined by dots.
  public static func average(
    _ field: String
  ) throws(DocumentsError) -> DocumentAggregation.Function {
    .average(try DocumentFieldPath.computed(field))
  }
}

extension DocumentFieldPath {
  fileprivate static func computed(_ field: String) throws(DocumentsError) -> DocumentFieldPath {
    do throws(DocumentQueryError) { return try .queried(field) } catch {
      throw .invalidQuery(error)
    }
  }
}

extension DocumentsError {
  fileprivate static let notComputed = DocumentsError.refused(
    DocumentStatus(.internalError, "the server computed nothing"))
}
