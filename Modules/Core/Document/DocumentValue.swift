/// The value of a field of a document.
///
/// `==` is exact: `integer(1)` differs from `double(1)`, and `-0.0` from `0.0`; only values
/// that are not numbers are alike. Filters, `in`, and array transforms ask
/// ``isEquivalent(to:)`` instead. Source: documents reference, sections 1.4 to 1.6.
public enum DocumentValue: Sendable {
  /// Nothing, said out loud: differs from a field that is not there.
  case null
  /// `true` or `false`.
  case boolean(Bool)
  /// A whole number.
  case integer(Int64)
  /// Any IEEE number, infinities and what is not a number included.
  case double(Double)
  /// A point in time.
  case timestamp(DocumentTimestamp)
  /// Text of at most ``DocumentLimits/valueBytes``.
  case string(String)
  /// Bytes, at most ``DocumentLimits/valueBytes``.
  case bytes([UInt8])
  /// Another document, or this one.
  indirect case reference(DocumentName)
  /// A place on earth.
  case geoPoint(DocumentGeoPoint)
  /// Values in order, none of them an array.
  case array([DocumentValue])
  /// Numbers in order, for search by likeness.
  case vector([Double])
  /// Values by name.
  case map(DocumentMap)
  /// A time the server has not set yet; only documents with local writes hold it.
  indirect case pendingTimestamp(DocumentPendingTimestamp)
}

/// The placeholder for a server timestamp until the server has set it.
public struct DocumentPendingTimestamp: Hashable, Sendable {
  /// The time of the write, by the clock of the device.
  public let localWriteTime: DocumentTimestamp

  /// The value of the field before the write; never pending itself.
  public let previous: DocumentValue?

  /// Replaces `previous`; when that is pending too, what it replaced is carried on.
  public init(localWriteTime: DocumentTimestamp, replacing previous: DocumentValue?) {
    self.localWriteTime = localWriteTime
    if case .pendingTimestamp(let inner) = previous {
      self.previous = inner.previous
    } else {
      self.previous = previous
    }
  }

  /// The value an application sees in its place, by its choice.
  public enum Display: Hashable, Sendable {
    /// Null.
    case none
    /// The time of the local write.
    case estimate
    /// The value of the field before the write, or else null.
    case previous
  }
}

extension DocumentValue {
  /// The value with every pending timestamp replaced by what an application asked to see.
  public func displayed(_ display: DocumentPendingTimestamp.Display) -> DocumentValue {
    switch self {
    case .pendingTimestamp(let pending):
      switch display {
      case .none: .null
      case .estimate: .timestamp(pending.localWriteTime)
      case .previous: pending.previous ?? .null
      }
    case .map(let map): .map(map.displayed(display))
    case .null, .boolean, .integer, .double, .timestamp, .string, .bytes, .reference, .geoPoint,
      .array, .vector:
      self
    }
  }

  /// Returns true when both have the same position in the order: `1` and `1.0` do, `0.0` and
  /// `-0.0`.
  public func isEquivalent(to other: DocumentValue) -> Bool { compare(other) == 0 }

  /// Negative, zero or positive in the order across all types.
  public func compare(_ other: DocumentValue) -> Int {
    PackedValue(self).compare(PackedValue(other))
  }

  /// The bytes the value counts for. Source: documents reference, section 1.8.
  public var byteCount: Int { PackedValue(self).byteCount }
}

extension DocumentValue: Hashable {
  public static func == (left: DocumentValue, right: DocumentValue) -> Bool {
    PackedValue(left) == PackedValue(right)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(PackedValue(self)) }
}

extension DocumentValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, DocumentValue)...) {
    self = .map(DocumentMap(elements.map { ($0.0, $0.1) }))
  }
}
