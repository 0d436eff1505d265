package import TernCore

/// A point in time since 1970, or a length of time, to the nanosecond.
///
/// A negative time rounds down: half a second before 1970 is -1 second and 500,000,000 nanoseconds.
/// The type has no range of its own; ``DocumentRuleOperations/timestamp(_:)`` and
/// ``DocumentRuleOperations/duration(_:)`` check the ranges of the language.
package struct DocumentRuleTime: Hashable, Comparable, Sendable {
  /// Whole seconds, rounded down.
  package let seconds: Int64
  /// Nanoseconds beyond ``seconds``, 0..<1,000,000,000.
  package let nanoseconds: Int64

  static let nanosecondsPerSecond: Int64 = 1_000_000_000
  static let secondsPerDay: Int64 = 86_400
  /// The seconds of the years 1 to 9999.
  static let instants: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
  /// The seconds that a duration holds.
  ///
  /// About 10,000 years in either direction, the range of a duration in protocol buffers.
  static let durations: ClosedRange<Int64> = -315_576_000_000...315_576_000_000

  /// A time of seconds and any number of nanoseconds; `nil` on overflow.
  package init?(seconds: Int64, nanoseconds: Int64) {
    let (quotient, remainder) = DocumentRuleTime.floored(
      nanoseconds, by: DocumentRuleTime.nanosecondsPerSecond)
    let (sum, overflow) = seconds.addingReportingOverflow(quotient)
    if overflow { return nil }
    self.seconds = sum
    self.nanoseconds = remainder
  }

  /// The time of a field.
  package init(_ time: DocumentTimestamp) {
    seconds = time.seconds
    nanoseconds = Int64(time.nanoseconds)
  }

  /// The quotient rounded down, and the rest, which is not negative.
  static func floored(_ value: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64) {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
  }

  func adding(_ other: DocumentRuleTime) -> DocumentRuleTime? {
    let (sum, overflow) = seconds.addingReportingOverflow(other.seconds)
    return overflow
      ? nil : DocumentRuleTime(seconds: sum, nanoseconds: nanoseconds + other.nanoseconds)
  }

  func subtracting(_ other: DocumentRuleTime) -> DocumentRuleTime? {
    let (difference, overflow) = seconds.subtractingReportingOverflow(other.seconds)
    return overflow
      ? nil : DocumentRuleTime(seconds: difference, nanoseconds: nanoseconds - other.nanoseconds)
  }

  package static func < (left: DocumentRuleTime, right: DocumentRuleTime) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }
}

/// The parts of a point in time in UTC, by the Gregorian calendar.
///
/// It uses integer arithmetic alone and knows neither time zones nor leap seconds.
struct DocumentRuleDate {
  let year: Int64
  let month: Int64
  let day: Int64
  /// The number of the day since 1970.
  let dayNumber: Int64
  /// 0..<86,400, also before 1970.
  let secondOfDay: Int64

  init(_ time: DocumentRuleTime) {
    (dayNumber, secondOfDay) = DocumentRuleTime.floored(
      time.seconds, by: DocumentRuleTime.secondsPerDay)
    (year, month, day) = DocumentRuleDate.civil(dayNumber)
  }

  /// 1 for Monday to 7 for Sunday.
  var dayOfWeek: Int64 { DocumentRuleTime.floored(dayNumber + 3, by: 7).rest + 1 }

  /// Counted from 1.
  var dayOfYear: Int64 { dayNumber - DocumentRuleDate.dayNumber(year, 1, 1) + 1 }

  /// The date of a day. Days are counted in eras of 400 years that begin on 1 March.
  ///
  /// A year that begins in March has its leap day at the end, so months have fixed offsets. 719,468
  /// is the number of days from 1 March of year 0 to 1970, and 146,097 that of an era.
  private static func civil(_ dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = DocumentRuleTime.floored(dayNumber + 719_468, by: 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1
    )
  }

  /// The number of a day since 1970.
  ///
  /// The inverse of `civil`. Days beyond the end of a month run on into the next; ``valid(_:_:_:)``
  /// rejects them.
  static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = DocumentRuleTime.floored(shiftedYear, by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
      - 719_468
  }

  /// The number of a day of the years 1 to 9999; `nil` for a date that does not exist.
  static func valid(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
    guard 1...9999 ~= year, 1...12 ~= month, 1...31 ~= day else { return nil }
    let number = dayNumber(year, month, day)
    let (y, m, d) = civil(number)
    return (y, m, d) == (year, month, day) ? number : nil
  }
}
