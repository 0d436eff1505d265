import TernCore

/// `Write` and its results. Source: documents reference, sections 3.1 to 3.3 and 6.2.
///
/// The fields of `Write`: 1 update, 2 delete, 3 update mask, 4 precondition, 5 verify, 6 transform
/// (the older form), 7 update transforms. The operation is one of 1, 2, 5 and 6.
enum WireWrite {
  /// Reads a `Write`, which has exactly one operation.
  ///
  /// - Parameters:
  ///   - reader: Stands at the beginning of the write.
  ///   - names: The database of the request; a document of another database is an error.
  /// - Throws: ``DocumentWireError/member(_:)`` for a write without or with several operations, and
  ///   for a mask or transforms beside an operation that takes none.
  static func mutation(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentMutation {
    var parts = WriteParts()
    while let field = try reader.next() {
      switch field {
      case 1:
        var message = try reader.message()
        parts.update = try message.document(&names)
      case 2: parts.deleted = try names.key(reader.bytes, try reader.text())
      case 3: parts.mask = try reader.mask()
      case 4: parts.precondition = try precondition(&reader)
      case 5: parts.verified = try names.key(reader.bytes, try reader.text())
      case 6: try transform(&reader, &parts, &names)
      case 7: parts.transforms.append(try fieldTransform(&reader))
      default: try reader.skip()
      }
    }
    return try parts.mutation()
  }

  /// Reads a `Precondition`.
  ///
  /// Fields: 1 exists, 2 update time. An empty message asks for nothing. The later of two fields
  /// counts.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for an update time that is finer than versions are.
  static func precondition(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentPrecondition {
    var result = DocumentPrecondition.none
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: result = .exists(try message.bool())
      case 2: result = .version(try exactVersion(&message))
      default: try message.skip()
      }
    }
    return result
  }

  /// A version that something is compared with: cutting digits would make another one of it.
  ///
  /// Versions are whole microseconds, and the wire has nanoseconds. A rounded precondition could
  /// hold for a document that its client has not seen.
  private static func exactVersion(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentVersion {
    // The field is read twice: once as a version, and once for the digits that a version drops.
    var copy = reader
    let version = try reader.version()
    var message = try copy.message()
    while let field = try message.next() {
      if field == 2, try message.int32() % 1_000 != 0 {
        throw .member("an update time has whole microseconds")
      } else if field != 2 {
        try message.skip()
      }
    }
    return version
  }

  /// The older form: a write that transforms and does nothing else.
  ///
  /// Fields of `DocumentTransform`: 1 document, 2 field transforms. Older server libraries send it.
  /// It becomes a patch without fields, which leaves everything else in the document as it is.
  private static func transform(
    _ reader: inout ProtoReader, _ parts: inout WriteParts, _ names: inout DocumentNames
  ) throws(DocumentWireError) {
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: parts.transformed = try names.key(message.bytes, try message.text())
      case 2: parts.transforms.append(try fieldTransform(&message))
      default: try message.skip()
      }
    }
  }

  /// Reads a `FieldTransform`.
  ///
  /// Fields: 1 path, 2 server value (REQUEST_TIME is 1), 3 increment, 4 maximum, 5 minimum, 6
  /// elements to append, 7 elements to remove.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` without a path, without a transform, and for an
  ///   unknown server value.
  private static func fieldTransform(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentFieldTransform {
    var path: DocumentFieldPath?
    var transform: DocumentTransform?
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: path = try message.path()
      case 2:
        guard try message.varint() == 1 else { throw .member("an unknown server value") }
        transform = .serverTimestamp
      case 3: transform = .increment(try number(&message))
      case 4: transform = .maximum(try number(&message))
      case 5: transform = .minimum(try number(&message))
      case 6: transform = .arrayUnion(try elements(&message))
      case 7: transform = .arrayRemove(try elements(&message))
      default: try message.skip()
      }
    }
    guard let path else { throw .member("a transform names no field") }
    guard let transform else { throw .member("a transform says not what to do") }
    return DocumentFieldTransform(path, transform)
  }

  /// Reads the operand of a numeric transform.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for a value that is neither an integer nor a
  ///   double.
  private static func number(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentNumber {
    var message = try reader.message()
    guard let number = DocumentNumber(try message.value()) else {
      throw .member("Input must be int64 or double.")
    }
    return number
  }

  /// Reads the `ArrayValue` of a transform of an array.
  private static func elements(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> [DocumentValue] {
    var message = try reader.message()
    return try message.values()
  }

  /// Reads a `WriteResult`.
  ///
  /// Fields: 1 update time, which deletions and verifications lack, 2 results of the transforms.
  static func result(_ reader: inout ProtoReader) throws(DocumentWireError) -> DocumentWriteResult {
    var version: DocumentVersion?
    var results: [DocumentValue] = []
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: version = try message.version()
      case 2:
        var value = try message.message()
        results.append(try value.value())
      default: try message.skip()
      }
    }
    return DocumentWriteResult(version: version, transformResults: results)
  }
}

/// The fields of a `Write`, before it is known which of them make one.
///
/// The fields come in any order, so rules about their combination are checked at the end.
private struct WriteParts {
  /// The document to write; its name must be set.
  var update: WireDocument?
  /// The document to delete.
  var deleted: DocumentKey?
  /// The document whose precondition is checked and which stays as it is.
  var verified: DocumentKey?
  /// The document of the older form of transforms.
  var transformed: DocumentKey?
  /// The fields to change; `nil` replaces the document, and an empty list changes no field.
  var mask: [DocumentFieldPath]?
  var precondition = DocumentPrecondition.none
  /// The transforms in their order, which counts when several are about one field.
  var transforms: [DocumentFieldTransform] = []

  /// Makes the write.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` in the words of the service.
  func mutation() throws(DocumentWireError) -> DocumentMutation {
    let kinds = [update != nil, deleted != nil, verified != nil, transformed != nil]
    let count = kinds.count { $0 }
    guard count == 1 else {
      throw .member(count == 0 ? "empty write operation" : "a write has exactly one operation")
    }
    if let update {
      let key = try update.named().key
      let change: DocumentMutation.Change =
        mask.map { .patch(update.fields, mask: DocumentFieldMask($0)) } ?? .set(update.fields)
      return made(key, change)
    }
    if let transformed { return made(transformed, .patch(.empty, mask: .empty)) }
    let name = deleted == nil ? "verify" : "delete"
    if mask != nil { throw .member("a \(name) must not specify a document mask.") }
    if !transforms.isEmpty { throw .member("a \(name) must not specify a update transform.") }
    if let deleted { return made(deleted, .delete) }
    guard let verified else { throw .member("empty write operation") }
    return made(verified, .verify)
  }

  /// Makes a write with the precondition and the transforms that were read.
  private func made(_ key: DocumentKey, _ change: DocumentMutation.Change) -> DocumentMutation {
    DocumentMutation(key, change, precondition: precondition, transforms: transforms)
  }
}
