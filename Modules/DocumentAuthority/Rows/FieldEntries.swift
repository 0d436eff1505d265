import TernCore

/// The entries one document has in the indexes of single fields, without scope and document.
///
/// Every field has one, also in maps and the maps themselves; an array has one for itself and one
/// for each element that it holds.
///
/// An entry is a field path with its end, a claim, and the first bytes of the value in order.
/// Behind the kind and the scope, and before a reference, it makes the key of a row.
struct FieldEntries {
  /// The statement of an entry about its field; the byte after the field.
  enum Claim {
    /// The field holds the value.
    static let value: UInt8 = 1
    /// The field is an array that holds the value.
    static let element: UInt8 = 2
  }

  /// Ascending, each once.
  private(set) var entries: [[UInt8]] = []

  /// The entries of these fields.
  init(_ fields: DocumentFields) {
    collect(fields.bytes, at: 0, below: [])
    entries.sort { $0.lexicographicallyPrecedes($1) }
    var unique: [[UInt8]] = []
    unique.reserveCapacity(entries.count)
    for entry in entries where unique.last != entry { unique.append(entry) }
    entries = unique
  }

  /// - Parameters:
  ///   - bytes: The packed fields of the document.
  ///   - offset: The position of a value; only maps have fields to visit.
  ///   - names: The encoded names on the way to it.
  private mutating func collect(_ bytes: [UInt8], at offset: Int, below names: [UInt8]) {
    Packed.forEachField(of: bytes.span, at: offset) { name, value in
      var inner = names
      OrderedBytes.appendFieldName(name, to: &inner)
      let field = FieldEntries.field(unended: inner)
      add(field + [Claim.value], bytes, value)
      if let elements = Packed.elements(of: bytes.span, at: value) {
        var next = elements.lowerBound
        while next < elements.upperBound {
          add(field + [Claim.element], bytes, next)
          Packed.skip(bytes.span, &next)
        }
      }
      collect(bytes, at: value, below: inner)
    }
  }

  /// - Parameter claim: Field and claim, which the value follows.
  private mutating func add(_ claim: [UInt8], _ bytes: [UInt8], _ offset: Int) {
    var entry = claim
    _ = IndexValue.append(bytes.span, at: offset, to: &entry)
    entries.append(entry)
  }

  /// The bytes of a field path in an entry.
  ///
  /// Planner and writer use the same bytes, hashes of long paths included.
  static func field(_ path: DocumentFieldPath) -> [UInt8] {
    var bytes: [UInt8] = []
    for name in path.names {
      name.withSpan { OrderedBytes.appendFieldName($0, to: &bytes) }
    }
    return field(unended: bytes)
  }

  private static func field(unended names: [UInt8]) -> [UInt8] {
    var field = names
    OrderedBytes.endPath(&field)
    return OrderedBytes.abbreviated(field, to: DocumentRows.Limits.fieldBytes)
  }

  /// The prefix of the key entries of all documents in a group.
  static let keyField: [UInt8] = [0]
}

/// A value as indexes hold it: its first bytes in order.
///
/// Source: documents reference, section 1.9.
///
/// Values that are equal in queries have equal bytes, such as 1 and 1.0. Values that were cut to
/// the same bytes share a place.
struct IndexValue: Hashable {
  /// The most bytes of a value that take part in an index.
  ///
  /// The service indexes as many.
  static let limitBytes = 1_500

  /// At most ``limitBytes`` bytes.
  let bytes: [UInt8]
  /// `true` if other values may have the same bytes.
  let isCut: Bool

  init(_ value: DocumentValue) {
    var bytes: [UInt8] = []
    isCut = IndexValue.append(PackedValue(value).bytes.span, at: 0, to: &bytes)
    self.bytes = bytes
  }

  /// Appends what indexes hold of the packed value at an offset.
  ///
  /// - Returns: Whether it is not the whole value.
  static func append(_ packed: Span<UInt8>, at offset: Int, to bytes: inout [UInt8]) -> Bool {
    let start = bytes.count
    // A long text is read only as far as the index holds it.
    if !OrderedBytes.appendBeginning(of: packed, at: offset, limit: limitBytes, to: &bytes) {
      OrderedBytes.append(packed, at: offset, to: &bytes)
    }
    let surplus = bytes.count - start - limitBytes
    if surplus <= 0 { return false }
    bytes.removeLast(surplus)
    return true
  }
}
