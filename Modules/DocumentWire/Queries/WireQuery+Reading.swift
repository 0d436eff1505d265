package import TernCore
import TernQuery

/// `StructuredQuery` as a ``DocumentQuery``. Source: documents reference, sections 2 and 6.2.
///
/// The fields of `StructuredQuery`: 1 selection, 2 selector, 3 filter, 4 orders, 5 limit (wrapped),
/// 6 offset, 7 start cursor, 8 end cursor, 9 search by similarity.
enum WireQuery {
  /// Reads a query below a parent; `nil` is the root.
  ///
  /// - Parameters:
  ///   - reader: Stands at the beginning of the query.
  ///   - parent: The parent in the request around it, which must be read before.
  /// - Throws: ``DocumentWireError/member(_:)`` for a query that breaks a rule, in the words of
  ///   the service.
  static func query(
    _ reader: inout ProtoReader, below parent: DocumentKey?, _ names: DocumentNames
  ) throws(DocumentWireError) -> DocumentQuery {
    var parts = QueryParts()
    while let field = try reader.next() {
      switch field {
      case 1: parts.selection = try projection(&reader)
      case 2: try selector(&reader, &parts)
      case 3:
        var message = try reader.message()
        parts.filter = try WireFilter.read(&message)
      case 4: parts.orders.append(try order(&reader))
      case 5: parts.limit = try reader.wrappedInt()
      case 6: parts.offset = try reader.int32()
      case 7: parts.start = try cursor(&reader)
      case 8: parts.end = try cursor(&reader)
      case 9:
        var message = try reader.message()
        parts.vectorSearch = try WireVectorSearch.read(&message)
      default: try reader.skip()
      }
    }
    return try parts.query(below: parent, names)
  }

  /// Reads a `CollectionSelector`; a query has one at most.
  ///
  /// Fields: 2 collection id, 3 all descendants.
  private static func selector(
    _ reader: inout ProtoReader, _ parts: inout QueryParts
  ) throws(DocumentWireError) {
    if parts.hasSelector {
      throw .member("StructuredQuery.from cannot have more than one collection selector.")
    }
    parts.hasSelector = true
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 2: parts.collectionID = try message.string()
      case 3: parts.isGroup = try message.bool()
      default: try message.skip()
      }
    }
  }

  /// Reads a `Projection`.
  ///
  /// Field: 2 fields, repeated. A list without fields asks for names alone.
  private static func projection(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> [DocumentFieldPath] {
    var paths: [DocumentFieldPath] = []
    var message = try reader.message()
    while let field = try message.next() {
      guard field == 2 else {
        try message.skip()
        continue
      }
      let path = try message.reference()
      try path.checkQueried()
      paths.append(path)
    }
    try DocumentWireLimits.checkShown(paths)
    return paths
  }

  /// Reads an `Order`. Without a direction it ascends.
  ///
  /// Fields: 1 field, 2 direction (unspecified 0, ASCENDING 1, DESCENDING 2).
  private static func order(_ reader: inout ProtoReader) throws(DocumentWireError) -> DocumentOrder
  {
    var path: DocumentFieldPath?
    var direction: UInt64 = 0
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: path = try message.reference()
      case 2: direction = try message.varint()
      default: try message.skip()
      }
    }
    guard let path else { throw .member("Order.field is required.") }
    guard direction <= 2 else { throw .member("Unknown order direction.") }
    try path.checkQueried(isCompared: true)
    return DocumentOrder(path, isDescending: direction == 2)
  }

  /// Reads a `Cursor`.
  ///
  /// Fields: 1 values, 2 before. The values are compared with orders only when both are known.
  static func cursor(_ reader: inout ProtoReader) throws(DocumentWireError) -> WireCursor {
    var cursor = WireCursor()
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1:
        var value = try message.message()
        cursor.values.append(try value.value())
      case 2: cursor.isBefore = try message.bool()
      default: try message.skip()
      }
    }
    return cursor
  }
}

extension ProtoReader {
  /// Reads a `google.protobuf` wrapper of a whole number.
  ///
  /// An absent number is 0, and differs from an absent wrapper: the caller sees that by the field.
  mutating func wrappedInt() throws(DocumentWireError) -> Int64 {
    var value: Int64 = 0
    var message = try message()
    while let field = try message.next() {
      if field == 1 { value = try message.int64() } else { try message.skip() }
    }
    return value
  }

  /// Reads a `FieldReference`.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` without a path, ``DocumentWireError/document(_:)``
  ///   for a path that is none.
  mutating func reference() throws(DocumentWireError) -> DocumentFieldPath {
    var path: DocumentFieldPath?
    var message = try message()
    while let field = try message.next() {
      if field == 2 { path = try message.path() } else { try message.skip() }
    }
    guard let path else { throw .member("Invalid empty property path string.") }
    return path
  }
}

/// A `Cursor` as it is on the wire.
///
/// Inclusive and exclusive have no meaning yet: `before` is inclusive for a start and exclusive for
/// an end. Partitions hand cursors out in the same form.
package struct WireCursor: Hashable, Sendable {
  /// Values of the first fields of the order.
  package var values: [DocumentValue] = []
  /// True when it lies just before documents of these values, rather than just behind.
  package var isBefore = false

  package init(_ values: [DocumentValue] = [], isBefore: Bool = false) {
    self.values = values
    self.isBefore = isBefore
  }
}
