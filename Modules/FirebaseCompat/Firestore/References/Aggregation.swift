public import Foundation
import TernClient
import TernCore
import TernQuery

/// One number computed over the result of a query.
public final class AggregateField: Hashable, Sendable {
  enum Function: Hashable, Sendable {
    case count
    case sum(Result<DocumentFieldPath, FirestoreArgumentError>)
    case average(Result<DocumentFieldPath, FirestoreArgumentError>)
  }

  let function: Function

  private init(_ function: Function) { self.function = function }

  /// Returns the field with the number of documents.
  public static func count() -> AggregateField { AggregateField(.count) }

  /// The sum of a field where it is a number; names are joined by dots.
  public static func sum(_ field: String) -> AggregateField { AggregateField(.sum(named(field))) }

  /// The sum of a field where it is a number.
  public static func sum(_ path: FieldPath) -> AggregateField { AggregateField(.sum(named(path))) }

  /// The mean of a field where it is a number; names are joined by dots.
  public static func average(_ field: String) -> AggregateField {
    AggregateField(.average(named(field)))
  }

  /// The mean of a field where it is a number.
  public static func average(_ path: FieldPath) -> AggregateField {
    AggregateField(.average(named(path)))
  }

  public static func == (left: AggregateField, right: AggregateField) -> Bool {
    left.function == right.function
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(function) }

  private static func named(_ field: Any) -> Result<DocumentFieldPath, FirestoreArgumentError> {
    Result { () throws(FirestoreArgumentError) in try DocumentFieldPath.named(field) }
  }

  /// Returns the function for the server.
  func native() throws(FirestoreArgumentError) -> DocumentAggregation.Function {
    switch function {
    case .count: .count(upTo: nil)
    case .sum(let path): .sum(try path.get())
    case .average(let path): .average(try path.get())
    }
  }
}

/// The place of the computation.
public enum AggregateSource: UInt, Sendable {
  /// The server; there is no answer without it.
  case server = 0
}

/// A query of which only numbers are wanted.
public final class AggregateQuery: Sendable {
  /// The query.
  public let query: Query
  private let fields: [AggregateField]

  init(_ query: Query, _ fields: [AggregateField]) {
    self.query = query
    self.fields = fields
  }

  /// Computes, and calls back.
  public func getAggregation(
    source: AggregateSource,
    completion: @escaping (AggregateQuerySnapshot?, (any Error)?) -> Void
  ) {
    let callback = Callback(completion)
    Task { [self] in
      var result: AggregateQuerySnapshot?
      var failure: (any Error)?
      do { result = try await getAggregation(source: source) } catch { failure = error }
      query.firestore.calls.call { [result, failure] in callback(result, failure) }
    }
  }

  /// Computes.
  ///
  /// - Throws: ``FirestoreErrorCode/unavailable`` when the server cannot be reached.
  public func getAggregation(source: AggregateSource) async throws -> AggregateQuerySnapshot {
    do {
      let checked = try query.checked()
      var aggregations: [DocumentAggregation] = []
      for (index, field) in fields.enumerated() {
        aggregations.append(DocumentAggregation("aggregate_\(index)", try field.native()))
      }
      let native = try await query.firestore.native()
      let reference = DocumentQueryReference(documents: native, query: .success(checked))
      let values = try await reference.aggregate(aggregations)
      return AggregateQuerySnapshot(self, fields, values)
    } catch {
      throw NSError.firestore(error)
    }
  }
}

/// The numbers that were computed.
public final class AggregateQuerySnapshot: Sendable {
  /// The query of the result.
  public let query: AggregateQuery
  private let fields: [AggregateField]
  private let values: DocumentMap

  init(_ query: AggregateQuery, _ fields: [AggregateField], _ values: DocumentMap) {
    self.query = query
    self.fields = fields
    self.values = values
  }

  /// The number of documents; 0 when it was not requested.
  public var count: NSNumber { self.get(.count()) as? NSNumber ?? 0 }

  /// The value of one that was asked for: a number, or `NSNull` for the mean of nothing.
  public func get(_ aggregateField: AggregateField) -> Any? {
    guard let index = fields.firstIndex(of: aggregateField),
      let value = values["aggregate_\(index)"]
    else { return nil }
    return value.foundation(query.query.firestore, .none)
  }
}

extension Query {
  /// Asks for the number of documents in the result.
  public var count: AggregateQuery { aggregate([.count()]) }

  /// Asks for numbers, at most five.
  public func aggregate(_ aggregateFields: [AggregateField]) -> AggregateQuery {
    AggregateQuery(self, aggregateFields)
  }
}
