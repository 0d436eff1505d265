// What is written most, in few words: `["name": .string(name), "visits": .increment(1)]`.

extension DocumentInput {
  /// The field is there, and null.
  public static var null: DocumentInput { .value(.null) }

  /// True or false.
  public static func boolean(_ flag: Bool) -> DocumentInput { .value(.boolean(flag)) }

  /// A whole number.
  public static func integer(_ number: Int) -> DocumentInput { .integer(Int64(number)) }

  /// A whole number.
  public static func integer(_ number: Int64) -> DocumentInput { .value(.integer(number)) }

  /// Any IEEE number.
  public static func double(_ number: Double) -> DocumentInput { .value(.double(number)) }

  /// A text.
  public static func string(_ text: String) -> DocumentInput { .value(.string(text)) }

  /// Bytes.
  public static func bytes(_ bytes: [UInt8]) -> DocumentInput { .value(.bytes(bytes)) }

  /// A point in time.
  public static func timestamp(_ time: DocumentTimestamp) -> DocumentInput {
    .value(.timestamp(time))
  }

  /// A place on earth.
  public static func geoPoint(_ point: DocumentGeoPoint) -> DocumentInput {
    .value(.geoPoint(point))
  }

  /// A vector, for search by likeness.
  public static func vector(_ numbers: [Double]) -> DocumentInput { .value(.vector(numbers)) }

  /// The time of the commit, by the server's clock.
  public static var serverTimestamp: DocumentInput { .transform(.serverTimestamp) }

  /// The number that is there plus a whole one; this one where no number is.
  public static func increment(_ amount: Int) -> DocumentInput {
    .transform(.increment(.integer(Int64(amount))))
  }

  /// The number that is there plus this one; this one where no number is.
  public static func increment(_ amount: Double) -> DocumentInput {
    .transform(.increment(.double(amount)))
  }

  /// The array that is there, and those of the values it does not hold yet.
  public static func arrayUnion(_ values: [DocumentValue]) -> DocumentInput {
    .transform(.arrayUnion(values))
  }

  /// The array that is there without these values.
  public static func arrayRemove(_ values: [DocumentValue]) -> DocumentInput {
    .transform(.arrayRemove(values))
  }
}

// What a value is, if it is of that kind: `snapshot["visits"]?.integer`.

extension DocumentValue {
  /// The flag; `nil` for any other kind.
  public var boolean: Bool? { if case .boolean(let flag) = self { flag } else { nil } }

  /// The whole number; `nil` for any other kind, also for IEEE numbers.
  public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

  /// The number, of either kind, as the nearest IEEE number; `nil` for any other kind.
  public var double: Double? { DocumentNumber(self)?.double }

  /// The text; `nil` for any other kind.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The bytes; `nil` for any other kind.
  public var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

  /// The point in time; `nil` for any other kind.
  public var timestamp: DocumentTimestamp? {
    if case .timestamp(let time) = self { time } else { nil }
  }

  /// The elements; `nil` for any other kind.
  public var array: [DocumentValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The fields; `nil` for any other kind.
  public var map: DocumentMap? { if case .map(let map) = self { map } else { nil } }

  /// The document that is referred to; `nil` for any other kind.
  public var reference: DocumentName? { if case .reference(let name) = self { name } else { nil } }
}
