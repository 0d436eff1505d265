package import TernCore

/// A query made ready to be asked about many documents: operands packed, names in bytes.
///
/// Documents are read in place; asking allocates nothing.
///
/// A matcher is immutable and may be used on any thread.
package struct DocumentMatcher: Sendable {
  private let place: Place
  private let condition: Condition
  /// The fields that a document must have to belong to the result: those of the order, and those
  /// that aggregations read.
  private let required: [FieldBytes]
  private let ordering: DocumentOrdering
  private let start: PackedCursor?
  private let end: PackedCursor?

  /// Prepares a query.
  package init(_ query: DocumentQuery) {
    place = Place(query.source)
    condition = query.filter.map(Condition.init) ?? .all([])
    let orders = query.normalizedOrders
    ordering = DocumentOrdering(orders)
    // Filters have made sure of their fields already, except in alternatives.
    required = (orders.map(\.path).filter { !$0.isKey } + query.requiredFields).map(FieldBytes.init)
    start = query.start.map(PackedCursor.init)
    end = query.end.map(PackedCursor.init)
  }

  /// Returns true when a document belongs to the result, limits aside.
  package func matches(_ document: Document) -> Bool {
    guard let fields = document.fields else { return false }
    return document.key.text.withSpan { matches(key: $0, fields: fields.bytes.span) }
  }

  /// Returns true when a document, given as key and packed fields, belongs to the result, limits
  /// aside.
  ///
  /// - Parameters:
  ///   - key: The bytes of the key's text.
  ///   - fields: The packed map of its fields, well formed.
  /// - Complexity: O(fields) for each field that the query names.
  package func matches(key: Span<UInt8>, fields: Span<UInt8>) -> Bool {
    containsKey(key) && matchesWithinSource(key: key, fields: fields)
  }

  /// Like ``matches(key:fields:)`` for documents known to lie where the query looks.
  package func matchesWithinSource(key: Span<UInt8>, fields: Span<UInt8>) -> Bool {
    guard condition.holds(key: key, fields: fields) else { return false }
    for field in required where field.offset(in: fields) == nil { return false }
    if let start {
      let order = ordering.compare(start, key: key, fields: fields)
      if start.isInclusive ? order > 0 : order >= 0 { return false }
    }
    if let end {
      let order = ordering.compare(end, key: key, fields: fields)
      if end.isInclusive ? order < 0 : order <= 0 { return false }
    }
    return true
  }

  /// Returns true when a document of this key lies in the query's source.
  package func containsKey(_ key: Span<UInt8>) -> Bool { place.contains(key) }
}

/// The names of a field path as bytes, for looking into packed fields.
///
/// A class, because a matcher is asked far more often than it is copied.
final class FieldBytes: Sendable {
  let isKey: Bool
  /// The first name apart, because most paths have only one.
  private let first: [UInt8]
  private let rest: [[UInt8]]

  init(_ path: DocumentFieldPath) {
    isKey = path.isKey
    first = Array(path.names[0].utf8)
    rest = path.names.dropFirst().map { Array($0.utf8) }
  }

  /// Returns the position of the field's value; `nil` when there is no such field.
  @inline(__always)
  func offset(in fields: Span<UInt8>) -> Int? {
    let first = first
    let offset = Packed.field(first.span, in: fields, at: 0)
    return rest.isEmpty ? offset : inner(offset, in: fields)
  }

  private func inner(_ outer: Int?, in fields: Span<UInt8>) -> Int? {
    guard var offset = outer else { return nil }
    for name in rest {
      guard let next = Packed.field(name.span, in: fields, at: offset) else { return nil }
      offset = next
    }
    return offset
  }
}

/// The source of a query, as bytes.
private struct Place: Sendable {
  private enum Kind { case collection, group, document, children, descendants }

  private let kind: Kind
  private let path: [UInt8]

  init(_ source: DocumentQuery.Source) {
    switch source {
    case .collection(let collection): (kind, path) = (.collection, Array(collection.text.utf8))
    case .group(let id): (kind, path) = (.group, Array(id.utf8))
    case .document(let key): (kind, path) = (.document, Array(key.text.utf8))
    case .all(let parent, let isRecursive):
      kind = isRecursive ? .descendants : .children
      path = Array((parent.map { $0.text + "/" } ?? "").utf8)
    }
  }

  func contains(_ key: Span<UInt8>) -> Bool {
    switch kind {
    case .collection: PathOrder.isChild(key, of: path.span)
    case .group: PathOrder.isChild(key, ofGroup: path.span)
    case .document: path.span.compareBytes(key) == 0
    case .descendants: isBelow(key)
    case .children: isBelow(key) && slashes(in: key) == 1
    }
  }

  private func isBelow(_ key: Span<UInt8>) -> Bool {
    key.count > path.count && key.firstDifference(from: path.span) == path.count
  }

  /// The number of slashes behind the path: one for a document of a collection directly below.
  private func slashes(in key: Span<UInt8>) -> Int {
    var count = 0
    for index in path.count..<key.count where key[index] == UInt8(ascii: "/") { count += 1 }
    return count
  }
}
