extension DocumentMutation {
  /// Replaces the whole document, or makes it.
  ///
  /// - Throws: ``DocumentError``, about the first field that breaks a rule.
  public static func set(
    _ key: DocumentKey, to fields: [DocumentInput.Field]
  ) throws(DocumentError) -> DocumentMutation {
    var reader = DocumentInputReader(.set)
    try reader.read(fields)
    try reader.data.check()
    let contents = DocumentFields(reader.data)
    try Document(key, .found(contents)).checkSize()
    return DocumentMutation(key, .set(contents), transforms: reader.transforms)
  }

  /// Makes a document that must not exist yet.
  ///
  /// - Throws: ``DocumentError``, about the first field that breaks a rule.
  public static func create(
    _ key: DocumentKey, with fields: [DocumentInput.Field]
  ) throws(DocumentError) -> DocumentMutation {
    try set(key, to: fields).requiring(.exists(false))
  }

  /// Writes every leaf of the data, an empty map counting as one, and leaves the rest.
  ///
  /// - Throws: ``DocumentError``, about the first field that breaks a rule.
  public static func merge(
    _ key: DocumentKey, with fields: [DocumentInput.Field]
  ) throws(DocumentError) -> DocumentMutation {
    var reader = DocumentInputReader(.merge)
    try reader.read(fields)
    return try patch(key, reader.data, reader.mask, reader.transforms, .none)
  }

  /// Writes the listed fields of the data and leaves the rest.
  ///
  /// - Parameter paths: Each must occur in the data; what is not listed is ignored.
  /// - Throws: ``DocumentError/missingMergeField(_:)``, and what ``merge(_:with:)`` throws.
  public static func merge(
    _ key: DocumentKey, with fields: [DocumentInput.Field], only paths: [DocumentFieldPath]
  ) throws(DocumentError) -> DocumentMutation {
    var reader = DocumentInputReader(.merge)
    try reader.read(fields)
    for path in paths {
      let occurs =
        reader.data[path] != nil || reader.mask.contains { path.contains($0) }
        || reader.transforms.contains { path.contains($0.path) }
      if !occurs { throw .missingMergeField(path) }
    }
    let listed = DocumentFieldMask(paths)
    let transforms = reader.transforms.filter { listed.covers($0.path) }
    let mask = paths.filter { path in !transforms.contains { $0.path == path } }
    return try patch(key, reader.data, mask, transforms, .none)
  }

  /// Writes single fields of a document that must exist.
  ///
  /// - Parameter assignments: Each path once, and none inside another.
  /// - Throws: ``DocumentError/overlappingFields(_:_:)``, or what is wrong with a value.
  public static func update(
    _ key: DocumentKey, _ assignments: [(path: DocumentFieldPath, input: DocumentInput)]
  ) throws(DocumentError) -> DocumentMutation {
    try DocumentFieldMask.checkDisjoint(assignments.map(\.path))
    var reader = DocumentInputReader(.update)
    for assignment in assignments { try reader.read(assignment.input, at: assignment.path) }
    return try patch(key, reader.data, reader.mask, reader.transforms, .exists(true))
  }

  private static func patch(
    _ key: DocumentKey, _ data: DocumentMap, _ mask: [DocumentFieldPath],
    _ transforms: [DocumentFieldTransform], _ precondition: DocumentPrecondition
  ) throws(DocumentError) -> DocumentMutation {
    try data.check()
    let mask = DocumentFieldMask(mask)
    let contents = DocumentFields(mask.projection(of: data))
    try Document(key, .found(contents)).checkSize()
    return DocumentMutation(
      key, .patch(contents, mask: mask), precondition: precondition, transforms: transforms)
  }

  /// Deletes a document; one that is not there stays so.
  public static func delete(_ key: DocumentKey) -> DocumentMutation {
    DocumentMutation(key, .delete)
  }

  /// Writes nothing, and fails the commit when the document is not as it was read.
  ///
  /// - Parameter version: The version that was read; ``DocumentVersion/none`` for no document.
  public static func verify(_ key: DocumentKey, is version: DocumentVersion) -> DocumentMutation {
    DocumentMutation(
      key, .verify, precondition: version == .none ? .exists(false) : .version(version))
  }
}
