import TernCore
import TernStorage

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
  let entries: [[UInt8]]

  /// The entries of these fields.
  init(_ fields: DocumentFields) {
    var walk = FieldEntryWalk(keepsEntries: true)
    walk.visit(fields)
    var unique: [[UInt8]] = []
    unique.reserveCapacity(walk.entries.count)
    for entry in walk.entries.sorted(by: bytesPrecede) where unique.last != entry {
      unique.append(entry)
    }
    entries = unique
  }

  /// The bytes of a field path in an entry.
  ///
  /// Planner and writer use the same bytes, hashes of long paths included.
  static func field(_ path: DocumentFieldPath) -> [UInt8] {
    var bytes: [UInt8] = []
    for name in path.names {
      name.withSpan { OrderedBytes.appendFieldName($0, to: &bytes) }
    }
    OrderedBytes.endPath(&bytes)
    return OrderedBytes.abbreviated(bytes, to: DocumentRows.Limits.fieldBytes)
  }

  /// The prefix of the key entries of all documents in a group.
  static let keyField: [UInt8] = [0]
}

/// The entries of one document in no order, each once, as they are found.
struct FieldEntryWalk {
  /// The most entries before the walk ends.
  private let countLimit: Int
  /// The most bytes of entries before it ends.
  private let byteLimit: Int
  /// The bytes that each entry counts besides its own.
  private let bytesPerEntry: Int
  private let keepsEntries: Bool
  /// The entries, if they are kept.
  private(set) var entries: [[UInt8]] = []
  /// The number of entries.
  private(set) var count = 0
  /// The bytes of them.
  private(set) var byteCount = 0

  /// True when the walk has ended at a limit.
  var isExceeded: Bool { count > countLimit || byteCount > byteLimit }

  /// A walk that keeps the entries, or counts them as far as the limits.
  init(
    keepsEntries: Bool = false, countLimit: Int = .max, byteLimit: Int = .max,
    bytesPerEntry: Int = 0
  ) {
    self.keepsEntries = keepsEntries
    self.countLimit = countLimit
    self.byteLimit = byteLimit
    self.bytesPerEntry = bytesPerEntry
  }

  /// Finds the entries of these fields.
  ///
  /// - Complexity: O(bytes of the fields), whatever they are: a name counts once for each field of
  ///   its map, with at most ``DocumentRows/Limits/fieldBytes``.
  mutating func visit(_ fields: DocumentFields) {
    visit(fields.bytes, at: 0, OrderedBytes.FieldPrefix(limit: DocumentRows.Limits.fieldBytes))
  }

  /// - Parameters:
  ///   - bytes: The packed fields of the document.
  ///   - offset: The position of a value; only maps have fields to visit.
  ///   - prefix: The way to it.
  private mutating func visit(
    _ bytes: [UInt8], at offset: Int, _ prefix: OrderedBytes.FieldPrefix
  ) {
    Packed.forEachField(of: bytes.span, at: offset) { name, value in
      if isExceeded { return }
      let inner = prefix.appending(name)
      let field = inner.path
      var index: [UInt8] = []
      _ = IndexValue.append(bytes.span, at: value, to: &index)
      add(field, FieldEntries.Claim.value, index)
      if let elements = Packed.elements(of: bytes.span, at: value) {
        visit(elements, of: bytes, field)
      }
      visit(bytes, at: value, inner)
    }
  }

  /// Finds the entries of the elements of an array.
  private mutating func visit(_ elements: Range<Int>, of bytes: [UInt8], _ field: [UInt8]) {
    var known: Set<[UInt8]> = []
    var value: [UInt8] = []
    var next = elements.lowerBound
    while next < elements.upperBound, !isExceeded {
      value.removeAll(keepingCapacity: true)
      _ = IndexValue.append(bytes.span, at: next, to: &value)
      if known.insert(value).inserted { add(field, FieldEntries.Claim.element, value) }
      Packed.skip(bytes.span, &next)
    }
  }

  private mutating func add(_ field: [UInt8], _ claim: UInt8, _ value: [UInt8]) {
    count += 1
    byteCount += field.count + 1 + value.count + bytesPerEntry
    if keepsEntries { entries.append(field + [claim] + value) }
  }
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
