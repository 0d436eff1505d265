extension Packed {
  /// Returns true when every reference in a value begins with the given bytes; the offset is behind
  /// the value then.
  ///
  /// Nothing is unpacked.
  static func references(
    _ bytes: Span<UInt8>, _ offset: inout Int, beginWith prefix: Span<UInt8>
  ) -> Bool {
    let tag = bytes[offset]
    guard tag == Tag.reference || tag == Tag.array || tag == Tag.map else {
      skip(bytes, &offset)
      return true
    }
    offset += 1
    let size = count(bytes, &offset)
    let end = offset + size
    if tag == Tag.reference {
      defer { offset = end }
      return bytes.extracting(offset..<end).firstDifference(from: prefix) == prefix.count
    }
    while offset < end {
      if tag == Tag.map {
        let length = count(bytes, &offset)
        offset += length
      }
      guard references(bytes, &offset, beginWith: prefix) else { return false }
    }
    return true
  }
}

extension DocumentFields {
  /// Checks that all references lead into a database.
  ///
  /// - Throws: ``DocumentError/foreignReference(_:_:)``, about the first that does not.
  func checkReferences(in database: DocumentDatabase) throws(DocumentError) {
    let prefix = Array((database.documentsName + "/").utf8)
    var offset = 0
    if Packed.references(bytes.span, &offset, beginWith: prefix.span) { return }
    for entry in map.entries {
      try entry.value.checkReferences(
        at: DocumentFieldPath(unchecked: [entry.name]), in: database)
    }
  }
}

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

extension DocumentMutation {
  /// Checks that the references a write brings along lead into the database it is made to.
  ///
  /// Source: documents reference, section 3.1.
  ///
  /// - Throws: ``DocumentError/foreignReference(_:_:)``, about the first that does not.
  package func checkReferences(in database: DocumentDatabase) throws(DocumentError) {
    switch change {
    case .set(let fields), .patch(let fields, _): try fields.checkReferences(in: database)
    case .delete, .verify: break
    }
    for item in transforms {
      switch item.transform {
      case .arrayUnion(let values), .arrayRemove(let values):
        for value in values { try value.checkReferences(at: item.path, in: database) }
      case .serverTimestamp, .increment, .maximum, .minimum: break
      }
    }
  }
}
