import TernTestKit
import Testing

@testable import TernCore

@Suite("Times as text, and the borders of times and places")
struct TimestampTextTests {
  @Test(
    "dates of the calendar",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1),
      ("2000-02-29T00:00:00Z", 951_782_400),
      ("2024-02-29T12:00:00Z", 1_709_208_000), ("1900-02-28T00:00:00Z", -2_203_977_600),
      ("1900-03-01T00:00:00Z", -2_203_891_200), ("2026-12-31T23:59:59Z", 1_798_761_599),
      ("0001-01-01T00:00:00Z", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
    ] as [(String, Int64)])
  func dates(text: String, seconds: Int64) throws {
    let time = try DocumentTimestamp(seconds: seconds)
    #expect(TimestampText.parse(text) == time)
    #expect(time.description == text)
  }

  @Test(
    "offsets, lower-case letters and fractions of any length",
    arguments: [
      ("1970-01-01t00:00:01z", 1_000_000), ("1970-01-01T01:00:00+01:00", 0),
      ("1969-12-31T23:30:00-00:30", 0), ("1970-01-01T00:00:00.1Z", 100_000),
      ("1970-01-01T00:00:00.123456789Z", 123_456), ("1970-01-01T00:00:00.000000999Z", 0),
      ("1969-12-31T23:59:59.999999Z", -1), ("1970-01-01T23:59:00+23:59", 0),
    ] as [(String, Int64)])
  func forms(text: String, microseconds: Int64) {
    #expect(TimestampText.parse(text)?.microseconds == microseconds)
  }

  @Test(
    "texts that are no time",
    arguments: [
      "", "2024", "2024-01-01", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00", "24-01-01T00:00:00Z",
      "2024-00-01T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-00T00:00:00Z",
      "2024-01-32T00:00:00Z",
      "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:60Z", "2024-1-01T00:00:00Z",
      "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00.1234567890Z", "2024-01-01T00:00:00+1:00",
      "2024-01-01T00:00:00+01", "2024-01-01T00:00:00+0100", "2024-01-01T00:00:00Zx",
      " 2024-01-01T00:00:00Z",
      "+024-01-01T00:00:00Z", "0000-12-31T23:59:59Z", "10000-01-01T00:00:00Z",
      "9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01",
    ])
  func malformed(text: String) {
    #expect(TimestampText.parse(text) == nil)
  }

  @Test(
    "days that their month does not have",
    arguments: [
      "2023-02-29", "2024-02-30", "1900-02-29", "2100-02-29", "2024-02-31", "2024-04-31",
      "2024-06-31",
      "2024-09-31", "2024-11-31",
    ])
  func days(date: String) {
    #expect(TimestampText.parse(date + "T00:00:00Z") == nil)
  }

  @Test("offsets that no clock has", arguments: ["+24:00", "-24:00", "+99:00", "+00:60", "-01:99"])
  func offsets(offset: String) {
    #expect(TimestampText.parse("2024-01-01T00:00:00" + offset) == nil)
  }

  @Test("every day follows the one before", arguments: [1, 1896, 1996, 2096, 9990])
  func calendar(first: Int) throws {
    var (year, month, day) = (first, 1, 1)
    func padded(_ number: Int, _ width: Int) -> String {
      String(repeating: "0", count: width - String(number).utf8.count) + String(number)
    }
    func text() -> String { "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T00:00:00Z" }
    var time = try #require(TimestampText.parse(text()))
    while year < first + 9 {
      guard time.description == text(), TimestampText.parse(text()) == time else {
        Issue.record("\(text()) is \(time)")
        return
      }
      time = DocumentTimestamp(uncheckedMicroseconds: time.microseconds + 86_400_000_000)
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      day += 1
      if day > lengths[month - 1] { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
  }

  @Test(
    "seconds and nanoseconds are limited",
    arguments: [
      (-62_135_596_800, 0, true), (-62_135_596_801, 0, false),
      (-62_135_596_801, 999_999_999, false),
      (253_402_300_799, 999_999_999, true), (253_402_300_800, 0, false), (0, -1, false),
      (0, 1_000_000_000, false), (0, 999_999_999, true), (.min, 0, false), (.max, 0, false),
    ] as [(Int64, Int32, Bool)])
  func range(seconds: Int64, nanoseconds: Int32, isAllowed: Bool) {
    let time = try? DocumentTimestamp(seconds: seconds, nanoseconds: nanoseconds)
    guard isAllowed else {
      #expect(throws: DocumentError.timestampOutOfRange(seconds: seconds, nanoseconds: nanoseconds))
      {
        try DocumentTimestamp(seconds: seconds, nanoseconds: nanoseconds)
      }
      return
    }
    #expect(time?.seconds == seconds)
    #expect(time?.nanoseconds == nanoseconds / 1_000 * 1_000)
  }

  @Test("a time is its seconds and nanoseconds again", arguments: UInt64(1)...20)
  func parts(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let time = DocumentTimestamp(
        uncheckedMicroseconds: .random(in: DocumentTimestamp.range, using: &random))
      #expect(try DocumentTimestamp(seconds: time.seconds, nanoseconds: time.nanoseconds) == time)
      let whole = time.milliseconds
      #expect(whole <= time && time.microseconds - whole.microseconds < 1_000)
      #expect(whole.nanoseconds % 1_000_000 == 0)
    }
  }

  @Test(
    "places lie on the globe",
    arguments: [
      (90, 180), (-90, -180), (-0.0, 0),
    ] as [(Double, Double)])
  func places(latitude: Double, longitude: Double) throws {
    let point = try DocumentGeoPoint(latitude: latitude, longitude: longitude)
    #expect(point.latitude == latitude && point.longitude == longitude)
    for beyond in [latitude.nextUp, latitude.nextDown] where abs(beyond) > 90 {
      #expect(throws: DocumentError.latitudeOutOfRange(beyond)) {
        try DocumentGeoPoint(latitude: beyond, longitude: 0)
      }
    }
    for beyond in [longitude.nextUp, longitude.nextDown] where abs(beyond) > 180 {
      #expect(throws: DocumentError.longitudeOutOfRange(beyond)) {
        try DocumentGeoPoint(latitude: 0, longitude: beyond)
      }
    }
  }

  @Test("no place is where there is no number", arguments: [Double.nan, .infinity, -.infinity])
  func nowhere(degrees: Double) {
    #expect(throws: DocumentError.self) { try DocumentGeoPoint(latitude: degrees, longitude: 0) }
    #expect(throws: DocumentError.self) { try DocumentGeoPoint(latitude: 0, longitude: degrees) }
  }
}
