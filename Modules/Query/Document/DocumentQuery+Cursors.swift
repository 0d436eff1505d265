public import TernCore

extension DocumentQuery {
  /// Begins at values of the first fields of the order.
  ///
  /// - Parameters:
  ///   - values: One for each of the first orders; the key as a reference.
  ///   - isInclusive: Whether documents exactly there belong to the result.
  /// - Throws: ``DocumentQueryError/cursorCount(_:orders:)`` and errors about single values.
  public func starting(
    at values: [DocumentValue], isInclusive: Bool = true
  ) throws(DocumentQueryError) -> DocumentQuery {
    var query = self
    query.start = try cursor(values, isInclusive)
    return query
  }

  /// Begins after values of the first fields of the order.
  ///
  /// - Throws: What ``starting(at:isInclusive:)`` throws.
  public func starting(after values: [DocumentValue]) throws(DocumentQueryError) -> DocumentQuery {
    try starting(at: values, isInclusive: false)
  }

  /// Ends at values of the first fields of the order.
  ///
  /// - Throws: What ``starting(at:isInclusive:)`` throws.
  public func ending(
    at values: [DocumentValue], isInclusive: Bool = true
  ) throws(DocumentQueryError) -> DocumentQuery {
    var query = self
    query.end = try cursor(values, isInclusive)
    return query
  }

  /// Ends before values of the first fields of the order.
  ///
  /// - Throws: What ``starting(at:isInclusive:)`` throws.
  public func ending(before values: [DocumentValue]) throws(DocumentQueryError) -> DocumentQuery {
    try ending(at: values, isInclusive: false)
  }

  /// The values at which a document stands in this query's order, its key last.
  ///
  /// - Parameter name: The document's name, for the key.
  /// - Throws: ``DocumentQueryError/cursorDocumentMissing(_:)``,
  ///   ``DocumentQueryError/cursorFieldMissing(_:)``,
  ///   ``DocumentQueryError/cursorFieldPending(_:)``.
  public func cursorValues(
    of document: Document, in database: DocumentDatabase
  ) throws(DocumentQueryError) -> [DocumentValue] {
    guard let fields = document.fields else { throw .cursorDocumentMissing(document.key) }
    var values: [DocumentValue] = []
    for order in normalizedOrders {
      if order.path.isKey {
        values.append(.reference(DocumentName(document.key, in: database)))
        continue
      }
      guard let value = fields[order.path] else { throw .cursorFieldMissing(order.path) }
      if case .pendingTimestamp = value { throw .cursorFieldPending(order.path) }
      values.append(value)
    }
    return values
  }

  /// Begins at or after a document; the order is completed first.
  ///
  /// - Throws: What ``cursorValues(of:in:)`` throws.
  public func starting(
    at document: Document, in database: DocumentDatabase, isInclusive: Bool = true
  ) throws(DocumentQueryError) -> DocumentQuery {
    let values = try cursorValues(of: document, in: database)
    var query = self
    query.start = DocumentCursor(values, isInclusive: isInclusive)
    return query
  }

  /// Ends at or before a document; the order is completed first.
  ///
  /// - Throws: What ``cursorValues(of:in:)`` throws.
  public func ending(
    at document: Document, in database: DocumentDatabase, isInclusive: Bool = true
  ) throws(DocumentQueryError) -> DocumentQuery {
    let values = try cursorValues(of: document, in: database)
    var query = self
    query.end = DocumentCursor(values, isInclusive: isInclusive)
    return query
  }

  private func cursor(
    _ values: [DocumentValue], _ isInclusive: Bool
  ) throws(DocumentQueryError) -> DocumentCursor {
    if values.isEmpty || values.count > orders.count {
      throw .cursorCount(values.count, orders: orders.count)
    }
    for (value, order) in zip(values, orders) {
      if case .pendingTimestamp = value { throw .pendingOperand }
      guard order.path.isKey else { continue }
      try checkKeyOperand(value)
    }
    return DocumentCursor(values, isInclusive: isInclusive)
  }

  func checkKeyOperand(_ value: DocumentValue) throws(DocumentQueryError) {
    guard case .reference = value else { throw .invalidKeyOperand }
  }
}
