package import TernCore

/// The complete order of a query, made ready to compare many documents in place.
///
/// Fields are found in the packed bytes at each comparison; nothing is unpacked.
package struct DocumentOrdering: Sendable {
  private struct Step: Sendable {
    let field: FieldBytes
    let isDescending: Bool
  }

  private let steps: [Step]

  /// Prepares an order; the key settles what it leaves open.
  package init(_ orders: [DocumentOrder]) {
    steps = orders.map { Step(field: FieldBytes($0.path), isDescending: $0.isDescending) }
  }

  /// Negative, zero or positive as one document comes before, with or after another.
  ///
  /// A document without a field comes before those that have it; queries have none such.
  package func compare(_ left: Document, _ right: Document) -> Int {
    let (a, b) = (left.fields ?? .empty, right.fields ?? .empty)
    return left.key.text.withSpan { leftKey in
      right.key.text.withSpan { rightKey in
        compare(key: leftKey, a.bytes.span, key: rightKey, b.bytes.span)
      }
    }
  }

  /// The same for keys and packed fields.
  package func compare(
    key leftKey: Span<UInt8>, _ left: Span<UInt8>, key rightKey: Span<UInt8>, _ right: Span<UInt8>
  ) -> Int {
    for step in steps {
      let order =
        step.field.isKey
        ? PathOrder.compare(leftKey, rightKey)
        : DocumentOrdering.compare(step.field, left, right)
      if order != 0 { return step.isDescending ? -order : order }
    }
    return PathOrder.compare(leftKey, rightKey)
  }

  private static func compare(
    _ field: FieldBytes, _ left: Span<UInt8>, _ right: Span<UInt8>
  ) -> Int {
    let (first, second) = (field.offset(in: left), field.offset(in: right))
    guard var i = first, var j = second else {
      return first == nil ? (second == nil ? 0 : -1) : 1
    }
    return PackedOrder.compare(left, &i, right, &j)
  }

  /// Negative, zero or positive as a cursor stands before, at or after a document.
  ///
  /// A cursor may have fewer values than the order has fields; documents that agree in those
  /// compare as equal.
  func compare(_ cursor: PackedCursor, key: Span<UInt8>, fields: Span<UInt8>) -> Int {
    for index in 0..<min(steps.count, cursor.values.count) {
      let step = steps[index]
      let order: Int
      if step.field.isKey {
        let operand = cursor.keys[index]
        order = PathOrder.compare(operand.span, key)
      } else if let offset = step.field.offset(in: fields) {
        order = cursor.values[index].compare(fields, at: offset)
      } else {
        order = 1
      }
      if order != 0 { return step.isDescending ? -order : order }
    }
    return 0
  }
}

extension DocumentOrdering {
  /// Returns the position of a document in the order; a field it lacks counts as null.
  func cursor(at document: Document) -> PackedCursor {
    let bytes = (document.fields ?? .empty).bytes
    let key = Array(document.key.text.utf8)
    return PackedCursor(
      values: steps.map { step in
        guard !step.field.isKey, let offset = step.field.offset(in: bytes.span) else {
          return PackedValue(.null)
        }
        return PackedValue(copying: bytes.span, at: offset)
      },
      keys: steps.map { $0.field.isKey ? key : [] }, isInclusive: true)
  }
}

/// A cursor whose values are packed.
///
/// ``values`` and ``keys`` have one element for each value of the cursor.
struct PackedCursor: Sendable {
  let values: [PackedValue]
  /// For each value the text of the key it names; empty for other values.
  let keys: [[UInt8]]
  let isInclusive: Bool

  init(values: [PackedValue], keys: [[UInt8]], isInclusive: Bool) {
    self.values = values
    self.keys = keys
    self.isInclusive = isInclusive
  }

  init(_ cursor: DocumentCursor) {
    values = cursor.values.map { PackedValue($0) }
    keys = cursor.values.map { value in
      if case .reference(let name) = value { return Array(name.key.text.utf8) }
      return []
    }
    isInclusive = cursor.isInclusive
  }
}
