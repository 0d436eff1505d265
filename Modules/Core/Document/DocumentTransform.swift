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

  /// True when applying the transform twice gives the same result as applying it once.
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
  ///
  /// A value of the wrong type counts as none: numbers begin with the operand, arrays with no
  /// elements.
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
    case .arrayUnion(let values): DocumentTransform.changed(base) { $0.unite(values) }
    case .arrayRemove(let values): DocumentTransform.changed(base) { $0.remove(values) }
    }
  }

  /// Returns the array at `base` after a change; anything else counts as an empty array.
  private static func changed(
    _ base: DocumentValue?, _ body: (inout ArrayDraft) -> Void
  ) -> DocumentValue {
    var draft = ArrayDraft(base)
    body(&draft)
    return .array(draft.elements)
  }

  /// The number that lies further in one direction; of equal ones the stored one.
  private static func extreme(
    _ base: DocumentValue?, _ number: DocumentNumber, wins: Int
  ) -> DocumentValue {
    guard let base, let stored = DocumentNumber(base) else { return number.value }
    if stored.isNaN || number.isNaN { return .double(.nan) }
    return number.value.compare(base).signum() == wins ? number.value : base
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
