public import TernCore

extension DocumentQuery {
  /// The reference that a text stands for where the key is compared.
  ///
  /// - Parameter text: An id for a collection; a whole path for a group.
  /// - Throws: ``DocumentQueryError/invalidKeyOperand``.
  public func keyOperand(
    _ text: String, in database: DocumentDatabase
  ) throws(DocumentQueryError) -> DocumentValue {
    let key: DocumentKey?
    switch source {
    case .collection(let path): key = try? path.document(text)
    case .group: key = try? DocumentKey(text)
    case .document, .all: key = nil
    }
    guard let key else { throw .invalidKeyOperand }
    return .reference(DocumentName(key, in: database))
  }

  /// An operand as it is meant where the key is compared: texts stand for references, alone and in
  /// lists. Source: documents reference, section 2.2.
  ///
  /// - Throws: ``DocumentQueryError/invalidKeyOperand``.
  public func keyOperand(
    _ operand: DocumentValue, in database: DocumentDatabase
  ) throws(DocumentQueryError) -> DocumentValue {
    switch operand {
    case .string(let text): return try keyOperand(text, in: database)
    case .array(let elements):
      var keys: [DocumentValue] = []
      for element in elements { keys.append(try keyOperand(element, in: database)) }
      return .array(keys)
    default: return operand
    }
  }

  /// A filter as it is meant in this query: where the key is compared, texts stand for references.
  ///
  /// - Throws: ``DocumentQueryError/invalidKeyOperand``.
  public func resolved(
    _ filter: DocumentFilter, in database: DocumentDatabase
  ) throws(DocumentQueryError) -> DocumentFilter {
    switch filter {
    case .and(let members): return .and(try resolved(members, in: database))
    case .or(let members): return .or(try resolved(members, in: database))
    case .field(let field):
      if !field.path.isKey { return filter }
      return .where(.key, field.comparison, try keyOperand(field.operand, in: database))
    }
  }

  private func resolved(
    _ members: [DocumentFilter], in database: DocumentDatabase
  ) throws(DocumentQueryError) -> [DocumentFilter] {
    var filters: [DocumentFilter] = []
    for member in members { filters.append(try resolved(member, in: database)) }
    return filters
  }

  /// Values of a cursor as they are meant in this query's order.
  ///
  /// - Throws: ``DocumentQueryError/invalidKeyOperand``.
  public func resolved(
    cursor values: [DocumentValue], in database: DocumentDatabase
  ) throws(DocumentQueryError) -> [DocumentValue] {
    var cursor = values
    for (index, order) in orders.prefix(values.count).enumerated() where order.path.isKey {
      cursor[index] = try keyOperand(values[index], in: database)
    }
    return cursor
  }

  /// Checks that references in filters and cursors lead into a database.
  ///
  /// - Throws: ``DocumentQueryError/document(_:)`` with
  ///   `DocumentError.foreignReference(_:_:)`.
  public func checkReferences(in database: DocumentDatabase) throws(DocumentQueryError) {
    do throws(DocumentError) {
      for field in filter?.fieldFilters ?? [] {
        try field.operand.checkReferences(at: field.path, in: database)
      }
      for cursor in [start, end] {
        for (value, order) in zip(cursor?.values ?? [], normalizedOrders) {
          try value.checkReferences(at: order.path, in: database)
        }
      }
    } catch {
      throw .document(error)
    }
  }
}
