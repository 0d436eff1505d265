import TernCore
import TernQuery

/// `StructuredQuery.FindNearest`. Source: firestore server reference, section 2.7.
///
/// Fields: 1 vector field, 2 query vector, 3 distance measure, 4 limit (wrapped), 5 field for the
/// distance in the result, 6 threshold (wrapped).
enum WireVectorSearch {
  /// - Throws: ``DocumentWireError/member(_:)`` for a search without one of the first four, or with
  ///   one that is out of its range.
  static func read(
    _ message: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentVectorSearch {
    var parts = VectorSearchParts()
    while let field = try message.next() {
      switch field {
      case 1: parts.field = try message.reference()
      case 2:
        var value = try message.message()
        parts.vector = try value.value()
      case 3: parts.measure = try message.varint()
      case 4: parts.limit = try message.wrappedInt()
      case 5: parts.distanceField = try message.string()
      case 6:
        var wrapper = try message.message()
        parts.threshold = try double(&wrapper)
      default: try message.skip()
      }
    }
    return try parts.search()
  }

  /// Writes a `FindNearest`.
  static func write(
    _ field: Int, _ search: DocumentVectorSearch, to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(field)
    writer.reference(1, search.field)
    writer.value(2, .vector(search.vector))
    writer.putInt(3, (VectorSearchParts.measures.firstIndex(of: search.measure) ?? 0) + 1)
    writer.wrapped(4, search.limit)
    if let path = search.distanceField { writer.string(5, path.text) }
    if let threshold = search.threshold {
      let wrapper = writer.begin(6)
      writer.double(1, threshold)
      writer.end(wrapper)
    }
    writer.end(mark)
  }

  /// Reads a `google.protobuf.DoubleValue`.
  private static func double(_ message: inout ProtoReader) throws(DocumentWireError) -> Double {
    var value = 0.0
    while let field = try message.next() {
      if field == 1 { value = try message.double() } else { try message.skip() }
    }
    return value
  }
}

/// The fields of a `FindNearest`.
///
/// They are checked together once all were read.
private struct VectorSearchParts {
  var field: DocumentFieldPath?
  var vector: DocumentValue?
  /// The number of the measure on the wire; 0 is unspecified and an error.
  var measure: UInt64 = 0
  /// The most documents, 1 to ``DocumentVectorSearch/resultLimit``.
  var limit: Int64?
  var distanceField = ""
  /// The greatest distance, or the least dot product; `nil` for any.
  var threshold: Double?

  /// The measures in the order of their numbers, from 1.
  static let measures: [DocumentVectorSearch.Measure] = [.euclidean, .cosine, .dotProduct]

  /// Checks the parts and makes the search.
  func search() throws(DocumentWireError) -> DocumentVectorSearch {
    guard let field else { throw .member("FindNearest.vector_field is required.") }
    try field.checkQueried()
    if field.isKey { throw .member("FindNearest.vector_field cannot be __key__.") }
    guard case .vector(let numbers)? = vector else {
      throw .member("FindNearest.query_vector is not a vector.")
    }
    guard 1...DocumentLimits.vectorDimensions ~= numbers.count else {
      throw .member(
        "Vectors have 1 to \(DocumentLimits.vectorDimensions) dimensions, not \(numbers.count).")
    }
    if numbers.contains(where: \.isNaN) {
      throw .member("FindNearest.query_vector contains NaN.")
    }
    guard 1...UInt64(Self.measures.count) ~= measure else {
      throw .member("FindNearest.distance_measure is required.")
    }
    guard let limit, 1...Int64(DocumentVectorSearch.resultLimit) ~= limit else {
      throw .member(
        "FindNearest.limit must be between 1 and \(DocumentVectorSearch.resultLimit).")
    }
    return DocumentVectorSearch(
      field, numbers, by: Self.measures[Int(measure) - 1], limit: Int(limit),
      distanceField: try resultField(), threshold: threshold)
  }

  /// - Returns: `nil` when the distance is not asked for.
  /// - Throws: ``DocumentWireError/document(_:)`` for a path that no document may have.
  private func resultField() throws(DocumentWireError) -> DocumentFieldPath? {
    if distanceField.isEmpty { return nil }
    do throws(DocumentError) {
      let path = try DocumentFieldPath(service: distanceField)
      try path.checkWritable()
      return path
    } catch {
      throw .document(error)
    }
  }
}
