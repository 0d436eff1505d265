/// The fields of a document while the transforms of a write are applied to them, in order.
///
/// Arrays are kept apart until the end: many transforms of one field cost the elements and the
/// operands together, not their product.
struct TransformedFields {
  /// The fields before the write, which pending timestamps replace.
  private let before: DocumentMap
  /// The fields so far, with an array in the place of each that is kept apart.
  private var map: DocumentMap
  /// The arrays that transforms have changed. One whose place holds no array any more was replaced
  /// by a later transform, of its field or of one around it or inside.
  private var arrays: [DocumentFieldPath: ArrayDraft] = [:]

  /// - Parameters:
  ///   - map: The fields that transforms build on: those after the write's own data.
  ///   - before: The fields before the write.
  init(_ map: DocumentMap, replacing before: DocumentMap) {
    self.map = map
    self.before = before
  }

  /// Applies the next transform.
  ///
  /// - Returns: The value of its field then; null for a transform of an array, as servers answer.
  mutating func apply(
    _ item: DocumentFieldTransform, at moment: DocumentMoment
  ) -> DocumentValue {
    switch item.transform {
    case .arrayUnion(let values):
      change(item.path) { $0.unite(values) }
      return .null
    case .arrayRemove(let values):
      change(item.path) { $0.remove(values) }
      return .null
    case .serverTimestamp, .increment, .maximum, .minimum:
      let result = item.transform.applied(
        to: map[item.path], replacing: before[item.path], at: moment)
      set(result, at: item.path)
      return result
    }
  }

  /// Replaces the value of a field.
  ///
  /// Arrays and maps that are set may hide or contain fields with drafts, so all drafts are written
  /// back first.
  mutating func set(_ value: DocumentValue, at path: DocumentFieldPath) {
    switch value {
    case .array, .map:
      map = finished()
      arrays = [:]
    // An array is no other value, whatever its elements are.
    default: arrays[path] = nil
    }
    map[path] = value
  }

  /// Returns the fields after all transforms.
  func finished() -> DocumentMap {
    var result = map
    for (path, array) in arrays where result.holdsArray(at: path) {
      result[path] = .array(array.elements)
    }
    return result
  }

  /// Changes the draft of an array. The field holds an empty array meanwhile, by which a later
  /// replacement is noticed.
  private mutating func change(
    _ path: DocumentFieldPath, _ body: (inout ArrayDraft) -> Void
  ) {
    if arrays[path] == nil || !map.holdsArray(at: path) {
      arrays[path] = ArrayDraft(map[path])
      map[path] = .array([])
    }
    body(&arrays[path, default: ArrayDraft(nil)])
  }
}

extension DocumentMap {
  fileprivate func holdsArray(at path: DocumentFieldPath) -> Bool {
    if case .array? = self[path] { true } else { false }
  }
}

/// The elements of an array while transforms add some and remove others.
///
/// A few operands are compared with every element; more are looked up by their keys.
///
/// Equivalence is that of filters: `1` and `1.0` are one element.
struct ArrayDraft {
  private enum Content {
    case plain([DocumentValue])
    case indexed(IndexedElements)
  }

  private var content: Content
  private var scanCount = 0
  /// The number of times an element was compared with an operand, or looked up.
  private(set) var comparisonCount = 0

  /// The most operands that each element is compared with.
  private static let maxScannedOperands = 16
  /// The most times that all elements are compared with some operands.
  private static let maxScans = 4

  /// Begins with the elements of an array; with none where no array is.
  init(_ base: DocumentValue?) {
    if case .array(let elements) = base {
      content = .plain(elements)
    } else {
      content = .plain([])
    }
  }

  /// The elements, in their order.
  var elements: [DocumentValue] {
    switch content {
    case .plain(let elements): elements
    case .indexed(let indexed): indexed.elements
    }
  }

  /// Adds those values that no element is equivalent to.
  mutating func unite(_ values: [DocumentValue]) {
    if values.isEmpty { return }
    guard let elements = scanned(for: values) else {
      return changeIndex { for value in values { $0.insert(value) } }
    }
    var united = elements
    var packed = elements.map { PackedValue($0) }
    for value in values {
      let candidate = PackedValue(value)
      if packed.contains(where: { $0.compare(candidate) == 0 }) { continue }
      united.append(value)
      packed.append(candidate)
    }
    content = .plain(united)
  }

  /// Removes all elements that are equivalent to one of the values.
  mutating func remove(_ values: [DocumentValue]) {
    if values.isEmpty { return }
    guard let elements = scanned(for: values) else {
      return changeIndex { for value in values { $0.remove(value) } }
    }
    let unwanted = values.map { PackedValue($0) }
    content = .plain(
      elements.filter { element in
        let packed = PackedValue(element)
        return !unwanted.contains { $0.compare(packed) == 0 }
      })
  }

  /// Returns the elements if each is to be compared with the operands; otherwise they are indexed.
  private mutating func scanned(for operands: [DocumentValue]) -> [DocumentValue]? {
    guard case .plain(let elements) = content else {
      comparisonCount += operands.count
      return nil
    }
    if operands.count <= Self.maxScannedOperands, scanCount < Self.maxScans {
      scanCount += 1
      comparisonCount += elements.count * operands.count
      return elements
    }
    comparisonCount += elements.count + operands.count
    content = .indexed(IndexedElements(elements))
    return nil
  }

  private mutating func changeIndex(_ body: (inout IndexedElements) -> Void) {
    guard case .indexed(var indexed) = content else { return }
    // Two references would make the change copy all of it.
    content = .plain([])
    body(&indexed)
    content = .indexed(indexed)
  }
}

/// Elements that are found by what they are equivalent to.
///
/// Removing keeps the slot empty, so that positions stay valid; ``elements`` closes the gaps.
private struct IndexedElements {
  /// The elements in their order; `nil` where one was removed.
  private var slots: [DocumentValue?] = []
  /// The last slot of the elements of each key.
  private var last: [[UInt8]: Int] = [:]
  /// For each slot the one before it with the same key; negative for none.
  private var previous: [Int] = []

  init(_ elements: [DocumentValue]) {
    slots.reserveCapacity(elements.count)
    previous.reserveCapacity(elements.count)
    for element in elements { append(element, Self.key(of: element)) }
  }

  var elements: [DocumentValue] { slots.compactMap { $0 } }

  mutating func insert(_ value: DocumentValue) {
    let key = Self.key(of: value)
    if last[key] == nil { append(value, key) }
  }

  mutating func remove(_ value: DocumentValue) {
    var slot = last.removeValue(forKey: Self.key(of: value)) ?? -1
    while slot >= 0 {
      slots[slot] = nil
      slot = previous[slot]
    }
  }

  private mutating func append(_ value: DocumentValue, _ key: [UInt8]) {
    previous.append(last.updateValue(slots.count, forKey: key) ?? -1)
    slots.append(value)
  }

  /// Returns bytes that are equal exactly for equivalent values.
  private static func key(of value: DocumentValue) -> [UInt8] {
    var key: [UInt8] = []
    OrderedBytes.append(value, to: &key)
    return key
  }
}
