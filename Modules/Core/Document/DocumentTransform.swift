/// A change of one field that depends on what the field holds when the write is applied.
///
/// Source: documents reference, section 3.3.
public enum DocumentTransform: Hashable, Sendable {
  /// The time of the commit, in whole milliseconds.
  case serverTimestamp
  /// The number there plus this one; this one where no number is.
  case increment(DocumentNumber)
  /// The larger of the number there and this one.
  case maximum(DocumentNumber)
  /// The smaller of the number there and this one.
  case minimum(DocumentNumber)
  /// The array there, and those of the values it does not hold yet.
  case arrayUnion([DocumentValue])
  /// The array there without every value equivalent to one of these.
  case arrayRemove([DocumentValue])

  /// True when applying the transform twice differs from applying it once.
  var isRepeatable: Bool {
    if case .increment = self { return false }
    return true
  }

  /// Returns the value of the field after the transform.
  ///
  /// - Parameters:
  ///   - base: What it holds before; `nil` when it is missing.
  ///   - replaced: What it held before the write that the transform is part of.
  ///   - moment: Where and when the write is applied.
  func applied(
    to base: DocumentValue?, replacing replaced: DocumentValue?, at moment: DocumentMoment
  ) -> DocumentValue {
    switch self {
    case .serverTimestamp:
      switch moment {
      case .commit(let version): .timestamp(version.timestamp.milliseconds)
      case .device(let time):
        .pendingTimestamp(DocumentPendingTimestamp(localWriteTime: time, replacing: replaced))
      }
    case .increment(let number): (DocumentNumber(base).map { $0.adding(number) } ?? number).value
    case .maximum(let number): DocumentTransform.extreme(base, number, wins: 1)
    case .minimum(let number): DocumentTransform.extreme(base, number, wins: -1)
    case .arrayUnion(let values): DocumentTransform.union(base, values)
    case .arrayRemove(let values): DocumentTransform.remove(base, values)
    }
  }

  /// The number that lies further in one direction; of equal ones the stored one.
  private static func extreme(
    _ base: DocumentValue?, _ number: DocumentNumber, wins: Int
  ) -> DocumentValue {
    guard let base, let stored = DocumentNumber(base) else { return number.value }
    if stored.isNaN || number.isNaN { return .double(.nan) }
    return number.value.compare(base).signum() == wins ? number.value : base
  }

  private static func union(_ base: DocumentValue?, _ values: [DocumentValue]) -> DocumentValue {
    var elements = elements(of: base)
    if values.count > maxScannedOperands {
      var known = Set(elements.map { DocumentTransform.equivalenceKey(of: $0) })
      for value in values
      where known.insert(DocumentTransform.equivalenceKey(of: value)).inserted {
        elements.append(value)
      }
      return .array(elements)
    }
    var packed = elements.map { PackedValue($0) }
    for value in values {
      let candidate = PackedValue(value)
      if packed.contains(where: { $0.compare(candidate) == 0 }) { continue }
      elements.append(value)
      packed.append(candidate)
    }
    return .array(elements)
  }

  private static func remove(_ base: DocumentValue?, _ values: [DocumentValue]) -> DocumentValue {
    if values.count > maxScannedOperands {
      let unwanted = Set(values.map { DocumentTransform.equivalenceKey(of: $0) })
      return .array(
        elements(of: base).filter {
          !unwanted.contains(DocumentTransform.equivalenceKey(of: $0))
        })
    }
    let unwanted = values.map { PackedValue($0) }
    return .array(
      elements(of: base).filter { element in
        let packed = PackedValue(element)
        return !unwanted.contains { $0.compare(packed) == 0 }
      })
  }

  /// The most operands that each element is compared with; more are looked up by their keys.
  private static let maxScannedOperands = 16

  /// Returns bytes that are equal exactly for equivalent values.
  private static func equivalenceKey(of value: DocumentValue) -> [UInt8] {
    var key: [UInt8] = []
    OrderedBytes.append(value, to: &key)
    return key
  }

  private static func elements(of base: DocumentValue?) -> [DocumentValue] {
    if case .array(let elements) = base { return elements }
    return []
  }
}

/// A transform and the field it changes.
public struct DocumentFieldTransform: Hashable, Sendable {
  /// The field.
  public let path: DocumentFieldPath
  /// The transform of the field.
  public let transform: DocumentTransform

  /// Pairs a field with what happens to it.
  public init(_ path: DocumentFieldPath, _ transform: DocumentTransform) {
    self.path = path
    self.transform = transform
  }
}

/// The context in which a write is applied: the client's estimate or the server's commit.
public enum DocumentMoment: Hashable, Sendable {
  /// On a device, before a server has seen it; the device's clock.
  case device(DocumentTimestamp)
  /// By the commit of a server.
  case commit(DocumentVersion)
}
