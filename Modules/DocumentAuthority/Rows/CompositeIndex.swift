import TernCore
import TernStorage

/// An index over several fields of the documents of one scope, made when queries want it.
///
/// A document has an entry when it holds all the fields: their values one behind the other.
///
/// The row that defines it has the kind `05`; its entries have the kind `06` and begin with its
/// number. An index is made once, built in steps, and kept from then on. Source:
/// Docs/Formats/document-rows.md, section 1.
struct CompositeIndex: Hashable {
  /// One field of the index.
  struct Segment: Hashable {
    /// The field, which may lie in maps.
    let path: DocumentFieldPath
    /// True when the entries hold the complement of the value's bytes.
    let isDescending: Bool
  }

  /// The number in its entries, out of the same sequence as those of scopes.
  let number: ScopeNumber
  /// The collection or group whose documents it lists.
  let scope: ScopeNumber
  /// The fields that are compared for equality, ascending by path; then those sorted by.
  let segments: [Segment]
  /// Behind which row of the documents the index is still to be built; `nil` when it is whole.
  var builtUpTo: [UInt8]?

  /// The most bytes of one value; what follows a longer one is left out.
  ///
  /// All values together take no more than one value of an index over one field.
  private var limitBytes: Int { IndexValue.limitBytes / segments.count }

  /// The entry of a document, if it has one.
  ///
  /// - Returns: One entry, or none for a document that lacks a field. Nothing follows a value that
  ///   was cut, because the order of what follows would be wrong.
  func entries(_ fields: DocumentFields) -> [[UInt8]] {
    var entry: [UInt8] = []
    var isCut = false
    for segment in segments {
      guard let value = fields[segment.path] else { return [] }
      if !isCut { isCut = append(value, segment, to: &entry) }
    }
    return [entry]
  }

  /// Appends what an entry holds of a value; whether that is not the whole value.
  func append(_ value: DocumentValue, _ segment: Segment, to bytes: inout [UInt8]) -> Bool {
    let start = bytes.count
    OrderedBytes.append(value, isDescending: segment.isDescending, to: &bytes)
    let surplus = bytes.count - start - limitBytes
    if surplus <= 0 { return false }
    bytes.removeLast(surplus)
    return true
  }

  /// The row that defines the index.
  func key(_ rows: DocumentRows) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(rows.key(.definition, scope))
    writer.append(bigEndian: number)
    return writer.bytes
  }
}

extension CompositeIndex {
  private static let format: UInt8 = 1

  /// Returns the value of the defining row. Layout: format (1), number (4 bytes), scope (4 bytes),
  /// number of fields (count); for each its direction (1 for descending), number of names (count),
  /// each name (count, UTF-8); then 0, or 1 and the mark of an unbuilt index (count, bytes).
  func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(CompositeIndex.format)
    writer.append(bigEndian: number)
    writer.append(bigEndian: scope)
    writer.append(variable: UInt64(segments.count))
    for segment in segments {
      writer.append(segment.isDescending ? 1 : 0)
      writer.append(variable: UInt64(segment.path.names.count))
      for name in segment.path.names { writer.append(counted: Array(name.utf8)) }
    }
    writer.append(builtUpTo == nil ? 0 : 1)
    if let builtUpTo { writer.append(counted: builtUpTo) }
    return writer.bytes
  }

  /// Reads a definition back; `nil` when the bytes are none.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard reader.byte() == CompositeIndex.format,
      let number = reader.bigEndian(ScopeNumber.self),
      let scope = reader.bigEndian(ScopeNumber.self), let count = reader.variable(), count > 0
    else { return nil }
    var segments: [Segment] = []
    for _ in 0..<count {
      guard let direction = reader.byte(), let nameCount = reader.variable(), nameCount > 0 else {
        return nil
      }
      var names: [String] = []
      for _ in 0..<nameCount {
        guard let name = reader.counted() else { return nil }
        names.append(String(decoding: name, as: UTF8.self))
      }
      segments.append(
        Segment(path: DocumentFieldPath(unchecked: names), isDescending: direction == 1))
    }
    guard let isPartial = reader.byte() else { return nil }
    if isPartial == 1 {
      guard let mark = reader.counted() else { return nil }
      builtUpTo = mark
    }
    self.number = number
    self.scope = scope
    self.segments = segments
  }
}
