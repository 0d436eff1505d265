import TernCore
import TernStorage

/// The change from a document after a commit back to its state before it.
///
/// Small changes of large documents are kept as the fields that changed.
///
/// The row of kind `07` holds it. Applied to the document after the commit, it gives the one
/// before. Layout: path (count, UTF-8); kind in 1 byte; unless the document was missing, the
/// version that made it and its version (8 bytes each); then the packed fields (count, bytes), or
/// the number of fields (count) and for each its name (count, UTF-8) and packed value (count,
/// bytes; none for no field).
struct ReverseChange: Hashable {
  /// The document before the commit.
  enum Before: Hashable {
    /// There was no document.
    case missing
    /// The commit has deleted a document of these fields, or the difference would take more bytes.
    case whole(DocumentFields)
    /// Top-level fields and what they held; `nil` where there was none.
    case fields([Field])
  }

  /// A top-level field.
  struct Field: Hashable {
    let name: String
    /// The value that it had; `nil` when the document did not have it.
    let value: PackedValue?
  }

  let key: DocumentKey
  /// The version of the document before the commit.
  let version: DocumentVersion
  /// The version that had made the document.
  let created: DocumentVersion
  let before: Before

  /// - Parameters:
  ///   - before: The document before the commit.
  ///   - after: The document after it, with the same key.
  init(from before: Document, to after: Document) {
    key = before.key
    version = before.version
    created = before.created
    guard let old = before.fields else {
      self.before = .missing
      return
    }
    guard let new = after.fields else {
      self.before = .whole(old)
      return
    }
    let fields = ReverseChange.differences(new.map, old.map)
    // Four bytes stand for the counts around a name and a value.
    let size = fields.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.bytes.count ?? 0) + 4 }
    self.before = size < old.bytes.count ? .fields(fields) : .whole(old)
  }

  /// The fields of `old` that `new` has not, or otherwise.
  private static func differences(_ new: DocumentMap, _ old: DocumentMap) -> [Field] {
    var fields: [Field] = []
    for entry in old.entries {
      let packed = PackedValue(entry.value)
      if let value = new[entry.name], PackedValue(value) == packed { continue }
      fields.append(Field(name: entry.name, value: packed))
    }
    for entry in new.entries where old[entry.name] == nil {
      fields.append(Field(name: entry.name, value: nil))
    }
    return fields
  }

  /// The document before the commit.
  ///
  /// - Parameter after: The document that the commit left. For a whole document or none it has no
  ///   part.
  func undone(_ after: Document) -> Document {
    switch before {
    case .missing: return Document(key, .missing)
    case .whole(let fields):
      return Document(key, .found(fields), version: version, created: created)
    case .fields(let fields):
      var map = after.fields?.map ?? DocumentMap()
      for field in fields { map[field.name] = field.value?.value }
      return Document(key, .found(DocumentFields(map)), version: version, created: created)
    }
  }
}

extension ReverseChange {
  private enum Tag {
    static let missing: UInt8 = 0
    static let whole: UInt8 = 1
    static let fields: UInt8 = 2
  }

  /// Returns the value of the row.
  func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(counted: Array(key.text.utf8))
    switch before {
    case .missing:
      writer.append(Tag.missing)
      return writer.bytes
    case .whole: writer.append(Tag.whole)
    case .fields: writer.append(Tag.fields)
    }
    writer.append(bigEndian: created.microseconds)
    writer.append(bigEndian: version.microseconds)
    switch before {
    case .missing: break
    case .whole(let fields): writer.append(counted: fields.bytes)
    case .fields(let fields):
      writer.append(variable: UInt64(fields.count))
      for field in fields {
        writer.append(counted: Array(field.name.utf8))
        writer.append(counted: field.value?.bytes ?? [])
      }
    }
    return writer.bytes
  }

  /// Reads only the document of a change; `nil` when the bytes are none.
  static func key(in bytes: [UInt8]) -> DocumentKey? {
    var reader = ByteReader(bytes)
    return reader.counted().map { DocumentKey(unchecked: String(decoding: $0, as: UTF8.self)) }
  }

  /// Reads a change back; `nil` when the bytes are none.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let key = reader.counted(), let tag = reader.byte() else { return nil }
    self.key = DocumentKey(unchecked: String(decoding: key, as: UTF8.self))
    if tag == Tag.missing {
      (version, created, before) = (.none, .none, .missing)
      return
    }
    guard let created = reader.bigEndian(Int64.self), let version = reader.bigEndian(Int64.self)
    else { return nil }
    self.created = DocumentVersion(microseconds: created)
    self.version = DocumentVersion(microseconds: version)
    if tag == Tag.whole {
      guard let fields = reader.counted() else { return nil }
      before = .whole(DocumentFields(unchecked: fields))
      return
    }
    guard let count = reader.variable() else { return nil }
    var fields: [Field] = []
    for _ in 0..<count {
      guard let name = reader.counted(), let value = reader.counted() else { return nil }
      fields.append(
        Field(
          name: String(decoding: name, as: UTF8.self),
          value: value.isEmpty ? nil : PackedValue(copying: value.span, at: 0)))
    }
    before = .fields(fields)
  }
}
