public import TernCore

extension DocumentQuery {
  /// Keeps those whose field compares; further conditions must hold as well.
  ///
  /// - Parameters:
  ///   - path: The field; `DocumentFieldPath.key` is the key.
  ///   - comparison: How it is compared.
  ///   - operand: With what; an array for list operators, references for the key.
  /// - Throws: ``DocumentQueryError``, for every combination that is not allowed.
  public func `where`(
    _ path: DocumentFieldPath, _ comparison: DocumentOperator, _ operand: DocumentValue
  ) throws(DocumentQueryError) -> DocumentQuery {
    try filtered(.where(path, comparison, operand))
  }

  /// Keeps those that a filter keeps; further conditions must hold as well.
  ///
  /// - Throws: ``DocumentQueryError``, for every combination that is not allowed.
  public func filtered(_ filter: DocumentFilter) throws(DocumentQueryError) -> DocumentQuery {
    var query = self
    query.filter = self.filter.map { DocumentFilter.and([$0, filter]).flattened }
    if self.filter == nil {
      try filter.checkMembers()
      query.filter = filter.flattened
    } else {
      try filter.checkMembers()
    }
    try query.check()
    return query
  }

  /// Sorts by a field, after the fields it is sorted by already. A field that is one of them, and
  /// any field behind the key, makes no difference and is left out.
  ///
  /// - Throws: ``DocumentQueryError/orderAfterCursor``,
  ///   ``DocumentQueryError/tooManyClauses(count:limit:)``.
  public func ordered(
    by path: DocumentFieldPath, isDescending: Bool = false
  ) throws(DocumentQueryError) -> DocumentQuery {
    if start != nil || end != nil { throw .orderAfterCursor }
    if orders.contains(where: { $0.path == path || $0.path.isKey }) { return self }
    var query = self
    query.orders.append(DocumentOrder(path, isDescending: isDescending))
    try query.check()
    return query
  }

  /// Keeps the first documents. Replaces an earlier limit.
  ///
  /// - Throws: ``DocumentQueryError/limitOutOfRange(_:)``.
  public func first(_ count: Int) throws(DocumentQueryError) -> DocumentQuery {
    try limited(.first, count)
  }

  /// Keeps the last documents, in the same order; ``checkExecutable()`` asks for an order.
  ///
  /// - Throws: ``DocumentQueryError/limitOutOfRange(_:)``.
  public func last(_ count: Int) throws(DocumentQueryError) -> DocumentQuery {
    try limited(.last, count)
  }

  private func limited(
    _ side: DocumentLimit.Side, _ count: Int
  ) throws(DocumentQueryError) -> DocumentQuery {
    guard 1..<1 << 31 ~= count else { throw .limitOutOfRange(count) }
    var query = self
    query.limit = DocumentLimit(side, count)
    return query
  }

  /// Leaves out documents at the beginning; for servers.
  ///
  /// - Throws: ``DocumentQueryError/offsetOutOfRange(_:)``.
  public func skipping(_ count: Int) throws(DocumentQueryError) -> DocumentQuery {
    guard 0..<1 << 31 ~= count else { throw .offsetOutOfRange(count) }
    var query = self
    query.offset = count
    return query
  }

  /// Hands out these fields only; for servers. Only the key hands out no field at all.
  public func selecting(_ paths: [DocumentFieldPath]) -> DocumentQuery {
    var query = self
    query.selection = paths.isEmpty ? [.key] : paths
    return query
  }

  /// Returns the fields that a selection keeps of a document.
  public func selected(from fields: DocumentFields) -> DocumentFields {
    guard let mask = DocumentFieldMask(selectionOf: self) else { return fields }
    return DocumentFields(mask.projection(of: fields.map))
  }

  /// Checks what only matters once the query is run.
  ///
  /// - Throws: ``DocumentQueryError/limitToLastWithoutOrder``.
  public func checkExecutable() throws(DocumentQueryError) {
    if limit?.side == .last, orders.isEmpty { throw .limitToLastWithoutOrder }
  }
}

extension DocumentFieldMask {
  /// The mask of what a query selects, to be made once for all of its documents; `nil` when the
  /// query selects all fields.
  package init?(selectionOf query: DocumentQuery) {
    guard let selection = query.selection else { return nil }
    self.init(selection.filter { !$0.isKey })
  }
}
