extension DocumentMap {
  /// Checks everything about data to be written that does not depend on the document.
  ///
  /// - Parameters:
  ///   - path: Where the data will stand; `nil` for the document itself.
  ///   - database: The database that references must lead into; `nil` for any.
  /// - Throws: ``DocumentError``, about the first field that breaks a rule.
  package func check(
    at path: DocumentFieldPath? = nil, in database: DocumentDatabase? = nil
  ) throws(DocumentError) {
    try check(at: path, depth: (path?.names.count ?? 0), database: database)
  }

  fileprivate func check(
    at path: DocumentFieldPath?, depth: Int, database: DocumentDatabase?
  ) throws(DocumentError) {
    for entry in entries {
      try DocumentFieldPath.checkWritable(entry.name)
      let path = path?.appending(entry.name) ?? DocumentFieldPath(unchecked: [entry.name])
      try entry.value.check(at: path, depth: depth, database: database)
    }
  }
}

extension DocumentValue {
  /// Checks a value that will stand in `depth` maps and arrays.
  ///
  /// - Parameters:
  ///   - path: The field that holds the value, for errors.
  ///   - database: The database that references must lead into; `nil` for any.
  package func check(
    at path: DocumentFieldPath, depth: Int, database: DocumentDatabase?
  ) throws(DocumentError) {
    switch self {
    case .string(let text): try checkSize(text.utf8.count, path)
    case .bytes(let bytes): try checkSize(bytes.count, path)
    case .reference(let name):
      if let database, name.database != database { throw .foreignReference(path, name) }
    case .map(let map):
      try checkDepth(depth + 1, path)
      try map.check(at: path, depth: depth + 1, database: database)
    case .array(let elements):
      try checkDepth(depth + 1, path)
      for element in elements {
        if case .array = element { throw .nestedArray(path) }
        try element.check(at: path, depth: depth + 1, database: database)
      }
    case .vector(let numbers):
      // On the wire a vector is an array in a map.
      try checkDepth(depth + 2, path)
      let limit = DocumentLimits.vectorDimensions
      if numbers.count > limit {
        throw .vectorTooLong(path, count: numbers.count, limit: limit)
      }
      if numbers.isEmpty || numbers.contains(where: \.isNaN) { throw .invalidVector(path) }
    case .pendingTimestamp: throw .pendingTimestamp(path)
    case .timestamp(let time): try time.checkRange()
    case .geoPoint(let point): try point.checkRange()
    case .null, .boolean, .integer, .double: break
    }
  }

  private func checkSize(_ count: Int, _ path: DocumentFieldPath) throws(DocumentError) {
    if count > DocumentLimits.valueBytes {
      throw .valueTooLong(path, byteCount: count, limit: DocumentLimits.valueBytes)
    }
  }

  private func checkDepth(_ depth: Int, _ path: DocumentFieldPath) throws(DocumentError) {
    if depth > DocumentLimits.depth { throw .tooDeep(path, limit: DocumentLimits.depth) }
  }
}

extension DocumentFieldPath {
  /// Checks that a write can name the path: reading allows more names than writing does.
  package func checkWritable() throws(DocumentError) {
    try checkNames()
    try checkLength()
  }

  /// Checks that data can be written at the path, by a write that does not name it.
  func checkNames() throws(DocumentError) {
    for name in names { try DocumentFieldPath.checkWritable(name) }
    // The maps around the field count as levels.
    if names.count - 1 > DocumentLimits.depth { throw .tooDeep(self, limit: DocumentLimits.depth) }
  }

  private func checkLength() throws(DocumentError) {
    // Quoting adds at most two quotes, and an escape for each byte.
    let most = names.reduce(0) { $0 + 2 * $1.utf8.count + 3 }
    if most <= DocumentLimits.fieldPathBytes { return }
    let count = text.utf8.count
    if count > DocumentLimits.fieldPathBytes {
      throw .fieldPathTooLong(byteCount: count, limit: DocumentLimits.fieldPathBytes)
    }
  }

  fileprivate static func checkWritable(_ name: String) throws(DocumentError) {
    if name.isEmpty { throw .emptyFieldName }
    if name.isReserved { throw .reservedFieldName(name) }
    let count = name.utf8.count
    if count > DocumentLimits.fieldNameBytes {
      throw .fieldNameTooLong(byteCount: count, limit: DocumentLimits.fieldNameBytes)
    }
  }
}
