extension DocumentValue {
  /// Checks that all references lead into a database.
  ///
  /// - Parameter path: Where the value stands.
  /// - Throws: ``DocumentError/foreignReference(_:_:)``, about the first that does not.
  package func checkReferences(
    at path: DocumentFieldPath, in database: DocumentDatabase
  ) throws(DocumentError) {
    switch self {
    case .reference(let name):
      if name.database != database { throw .foreignReference(path, name) }
    case .array(let elements):
      for element in elements { try element.checkReferences(at: path, in: database) }
    case .map(let map):
      for entry in map.entries {
        try entry.value.checkReferences(at: path.appending(entry.name), in: database)
      }
    case .null, .boolean, .integer, .double, .timestamp, .string, .bytes, .geoPoint, .vector,
      .pendingTimestamp:
      break
    }
  }
}
