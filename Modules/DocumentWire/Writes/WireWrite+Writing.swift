import TernCore

/// `Write` and its results.
///
/// Our clients send these, and the server hashes them to recognize a numbered batch.
extension WireWrite {
  /// Writes a `Write`.
  ///
  /// - Parameters:
  ///   - field: The number of the field that the write is; it repeats in a batch.
  ///   - mutation: Not checked; the server rejects what breaks a rule.
  static func mutation(
    _ field: Int, _ mutation: DocumentMutation, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(field)
    switch mutation.change {
    case .set(let fields): writer.document(1, mutation.key, fields, names)
    case .patch(let fields, let mask):
      writer.document(1, mutation.key, fields, names)
      // An empty mask is written too: its presence turns the replacement into a patch.
      writer.mask(3, mask.paths)
    case .delete: writer.key(2, mutation.key, names)
    case .verify: writer.key(5, mutation.key, names)
    }
    precondition(4, mutation.precondition, to: &writer)
    for transform in mutation.transforms { Self.transform(7, transform, to: &writer) }
    writer.end(mark)
  }

  /// Writes a `Precondition`, or nothing for none.
  static func precondition(
    _ field: Int, _ precondition: DocumentPrecondition, to writer: inout ProtoWriter
  ) {
    switch precondition {
    case .none: return
    case .exists(let exists):
      let mark = writer.begin(field)
      // A member of a choice: false says something other than absence.
      writer.putBool(1, exists)
      writer.end(mark)
    case .version(let version):
      let mark = writer.begin(field)
      writer.timestamp(2, version.timestamp)
      writer.end(mark)
    }
  }

  /// Writes a `FieldTransform`.
  private static func transform(
    _ field: Int, _ item: DocumentFieldTransform, to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(field)
    writer.string(1, item.path.text)
    switch item.transform {
    case .serverTimestamp: writer.putInt(2, 1)
    case .increment(let number): writer.value(3, number.value)
    case .maximum(let number): writer.value(4, number.value)
    case .minimum(let number): writer.value(5, number.value)
    case .arrayUnion(let values): writer.array(6, values)
    case .arrayRemove(let values): writer.array(7, values)
    }
    writer.end(mark)
  }

  /// Writes a `WriteResult`, also an empty one: results are matched with writes by their position.
  static func result(_ field: Int, _ result: DocumentWriteResult, to writer: inout ProtoWriter) {
    let mark = writer.begin(field)
    if let version = result.version { writer.timestamp(1, version.timestamp) }
    for value in result.transformResults { writer.value(2, value) }
    writer.end(mark)
  }
}
