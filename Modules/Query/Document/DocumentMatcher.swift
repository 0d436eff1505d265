package import TernCore

/// A query made ready to be asked about many documents: operands packed, names in bytes.
///
/// Documents are read in place; asking allocates nothing.
package struct DocumentMatcher: Sendable {
  private let source: DocumentQuery.Source
  private let groupSuffix: [UInt8]
  private let condition: Condition
  private let required: [FieldBytes]
  private let ordering: DocumentOrdering
  private let start: PackedCursor?
  private let end: PackedCursor?

  /// Prepares a query.
  package init(_ query: DocumentQuery) {
    source = query.source
    condition = query.filter.map(Condition.init) ?? .all([])
    let orders = query.normalizedOrders
    ordering = DocumentOrdering(orders)
    // Filters have made sure of their fields already, except in alternatives.
    required = orders.filter { !$0.path.isKey }.map { FieldBytes($0.path) }
    start = query.start.map(PackedCursor.init)
    end = query.end.map(PackedCursor.init)
    if case .group(let id) = query.source {
      groupSuffix = Array(id.utf8)
    } else {
      groupSuffix = []
    }
  }

  /// Whether a document belongs to the result, limits aside.
  package func matches(_ document: Document) -> Bool {
    guard let fields = document.fields else { return false }
    return matches(key: document.key.text.utf8.span, fields: fields.bytes.span)
  }

  /// Whether a document belongs to the result, limits aside.
  ///
  /// - Parameters:
  ///   - key: The bytes of the key's text.
  ///   - fields: The packed map of its fields, well formed.
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

  /// Whether a document of this key lies where the query looks.
  package func containsKey(_ key: Span<UInt8>) -> Bool {
    switch source {
    case .collection(let path): path.contains(keyBytes: key)
    case .document(let document): document.text.utf8.span.compareBytes(key) == 0
    case .group: isInGroup(key)
    }
  }

  private func isInGroup(_ key: Span<UInt8>) -> Bool {
    let slash = UInt8(ascii: "/")
    var end = key.count - 1
    while end >= 0, key[end] != slash { end -= 1 }
    let start = end - groupSuffix.count
    guard start >= 0, start == 0 || key[start - 1] == slash else { return false }
    return key.extracting(start..<end).compareBytes(groupSuffix.span) == 0
  }
}

/// The names of a field path as bytes, for looking into packed fields.
struct FieldBytes: Sendable {
  let isKey: Bool
  private let names: [[UInt8]]

  init(_ path: DocumentFieldPath) {
    isKey = path.isKey
    names = path.names.map { Array($0.utf8) }
  }

  /// Where the field's value begins; `nil` when there is no such field.
  @inline(__always)
  func offset(in fields: Span<UInt8>) -> Int? {
    var offset = 0
    for name in names {
      guard let next = Packed.field(name.span, in: fields, at: offset) else { return nil }
      offset = next
    }
    return offset
  }
}
