extension DocumentMutation {
  /// Checks a write that comes from another program, as a server must.
  ///
  /// - Parameter database: The database that its references must lead into; `nil` for any, as
  ///   servers have it.
  /// - Throws: ``DocumentError``, about the first rule that is broken.
  public func check(in database: DocumentDatabase? = nil) throws(DocumentError) {
    switch change {
    case .set(let fields):
      try fields.map.check(in: database)
      try Document(key, change.state).checkSize()
    case .patch(let fields, let mask):
      try fields.map.check(in: database)
      try Document(key, change.state).checkSize()
      for path in mask.paths { try path.checkWritable() }
    case .delete, .verify: break
    }
    try checkTransforms(in: database)
  }

  private func checkTransforms(in database: DocumentDatabase?) throws(DocumentError) {
    if transforms.count > DocumentLimits.transforms {
      throw .tooManyTransforms(count: transforms.count, limit: DocumentLimits.transforms)
    }
    for item in transforms {
      try item.path.checkWritable()
      try item.transform.check(at: item.path, in: database)
    }
  }
}

extension DocumentMutation.Change {
  /// The contents the change brings along.
  fileprivate var state: Document.State {
    switch self {
    case .set(let fields), .patch(let fields, _): .found(fields)
    case .delete, .verify: .missing
    }
  }
}

extension DocumentTransform {
  /// Checks the operands, which may be anything an array may hold.
  func check(
    at path: DocumentFieldPath, in database: DocumentDatabase? = nil
  ) throws(DocumentError) {
    switch self {
    case .arrayUnion(let values), .arrayRemove(let values):
      // The array lies in the maps around the field, and is a level itself.
      if path.names.count > DocumentLimits.depth {
        throw .tooDeep(path, limit: DocumentLimits.depth)
      }
      for value in values {
        if case .array = value { throw .nestedArray(path) }
        try value.check(at: path, depth: path.names.count, database: database)
      }
    case .serverTimestamp, .increment, .maximum, .minimum: break
    }
  }
}
