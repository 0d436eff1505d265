/// A point in time between the years 1 and 9999, in whole microseconds.
///
/// Finer digits are cut off towards the past. Source: documents reference, section 1.4.
public struct DocumentTimestamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970.
  public let microseconds: Int64

  private static let secondsRange: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  /// Makes a time of seconds since 1970 and what goes beyond them.
  ///
  /// - Throws: ``DocumentError/timestampOutOfRange(seconds:nanoseconds:)``.
  public init(seconds: Int64, nanoseconds: Int32 = 0) throws(DocumentError) {
    guard DocumentTimestamp.secondsRange ~= seconds, 0..<1_000_000_000 ~= nanoseconds else {
      throw .timestampOutOfRange(seconds: seconds, nanoseconds: nanoseconds)
    }
    microseconds = seconds * 1_000_000 + Int64(nanoseconds / 1_000)
  }

  /// Checks a time that was taken over unchecked.
  func checkRange() throws(DocumentError) {
    guard DocumentTimestamp.range.contains(microseconds) else {
      throw .timestampOutOfRange(seconds: microseconds / 1_000_000, nanoseconds: 0)
    }
  }

  /// Takes over a time that is known to be in range.
  package init(uncheckedMicroseconds microseconds: Int64) { self.microseconds = microseconds }

  /// The first time there is: the beginning of year 1.
  public static let earliest = DocumentTimestamp(
    uncheckedMicroseconds: secondsRange.lowerBound * 1_000_000)

  static let range: ClosedRange<Int64> =
    secondsRange.lowerBound * 1_000_000...secondsRange.upperBound * 1_000_000 + 999_999

  /// Whole seconds since 1970, rounded down.
  public var seconds: Int64 {
    // Also for times that were taken over unchecked: they are described in errors.
    let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest < 0 ? whole - 1 : whole
  }

  /// Nanoseconds beyond ``seconds``, 0..<1,000,000,000.
  public var nanoseconds: Int32 {
    let rest = microseconds % 1_000_000
    return Int32(rest < 0 ? rest + 1_000_000 : rest) * 1_000
  }

  /// The time without what is finer than a millisecond.
  var milliseconds: DocumentTimestamp {
    let rest = microseconds % 1_000
    return DocumentTimestamp(
      uncheckedMicroseconds: microseconds - (rest < 0 ? rest + 1_000 : rest))
  }

  public static func < (left: DocumentTimestamp, right: DocumentTimestamp) -> Bool {
    left.microseconds < right.microseconds
  }
}

/// The version of a document: the time that the server gave to the commit that produced it.
///
/// Versions ascend; ``none`` is below all of them. Source: documents reference, section 1.7.
public struct DocumentVersion: Hashable, Comparable, Sendable {
  /// Microseconds since 1970.
  public let microseconds: Int64

  /// Nothing is known from a server.
  public static let none = DocumentVersion(microseconds: 0)

  /// Makes a version of microseconds since 1970.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// True when the number is in the range of timestamps; a number that was read may lie outside.
  package var isTime: Bool { DocumentTimestamp.range.contains(microseconds) }

  /// The version as a time.
  public var timestamp: DocumentTimestamp {
    DocumentTimestamp(uncheckedMicroseconds: microseconds)
  }

  public static func < (left: DocumentVersion, right: DocumentVersion) -> Bool {
    left.microseconds < right.microseconds
  }
}

/// A place on earth in degrees.
public struct DocumentGeoPoint: Hashable, Sendable {
  /// Degrees north of the equator, -90...90.
  public let latitude: Double

  /// Degrees east of Greenwich, -180...180.
  public let longitude: Double

  /// Makes a point.
  ///
  /// - Throws: ``DocumentError/latitudeOutOfRange(_:)`` or
  ///   ``DocumentError/longitudeOutOfRange(_:)``, also for what is not a number.
  public init(latitude: Double, longitude: Double) throws(DocumentError) {
    self.init(uncheckedLatitude: latitude, longitude: longitude)
    try checkRange()
  }

  /// Checks a point that was taken over unchecked.
  func checkRange() throws(DocumentError) {
    guard -90...90 ~= latitude else { throw .latitudeOutOfRange(latitude) }
    guard -180...180 ~= longitude else { throw .longitudeOutOfRange(longitude) }
  }

  package init(uncheckedLatitude latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}
