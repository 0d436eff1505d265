/// Times as text: `2024-02-29T12:00:00.123456Z`, or with an offset from Greenwich.
///
/// Source: RFC 3339.
package enum TimestampText {
  /// Writes a time in Greenwich, with as many digits behind the point as it needs: 0, 3 or 6.
  package static func text(of time: DocumentTimestamp) -> String {
    let days = (Double(time.seconds) / 86_400).rounded(.down)
    let (year, month, day) = date(daysSince1970: Int(days))
    let second = Int(time.seconds) - Int(days) * 86_400
    var text = padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
    text += "T" + padded(second / 3_600, 2) + ":" + padded(second / 60 % 60, 2)
    text += ":" + padded(second % 60, 2)
    let micros = Int(time.nanoseconds) / 1_000
    if micros % 1_000 != 0 {
      text += "." + padded(micros, 6)
    } else if micros != 0 {
      text += "." + padded(micros / 1_000, 3)
    }
    return text + "Z"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// Reads a time; `nil` when the text is none, or outside the years 1 to 9999.
  ///
  /// Digits beyond the ninth are an error, those beyond the sixth are cut off. Leap seconds are
  /// rejected.
  package static func parse(_ text: String) -> DocumentTimestamp? {
    var scanner = Scanner(bytes: Array(text.utf8))
    guard let year = scanner.digits(4), scanner.take("-"), let month = scanner.digits(2),
      scanner.take("-"), let day = scanner.digits(2), scanner.take("T") || scanner.take("t"),
      let hour = scanner.digits(2), scanner.take(":"), let minute = scanner.digits(2),
      scanner.take(":"), let second = scanner.digits(2), (1...12).contains(month),
      (1...monthLength(month, of: year)).contains(day), hour < 24, minute < 60, second < 60
    else { return nil }
    let nanoseconds = scanner.take(".") ? scanner.fraction() : 0
    guard let nanoseconds, let offset = scanner.offset(), scanner.isAtEnd else { return nil }
    let days = daysSince1970(year: year, month: month, day: day)
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset
    return try? DocumentTimestamp(seconds: Int64(seconds), nanoseconds: Int32(nanoseconds))
  }

  private static func monthLength(_ month: Int, of year: Int) -> Int {
    let (next, following) = month == 12 ? (year + 1, 1) : (year, month + 1)
    return daysSince1970(year: next, month: following, day: 1)
      - daysSince1970(year: year, month: month, day: 1)
  }

  /// Days between the first of January 1970 and a date of the Gregorian calendar.
  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    // Years begin in March here, so that the leap day is the last one.
    let year = month <= 2 ? year - 1 : year
    let monthFromMarch = (month + 9) % 12
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }

  /// The date of the Gregorian calendar that lies so many days after the first of January 1970.
  private static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
    // Counted from the first of March of year 0, in spans of 400 years, which are all alike. No
    // date from the year 1 on lies before it.
    let days = days + 719_468
    let span = days / 146_097
    let dayOfSpan = days % 146_097
    let yearOfSpan =
      (dayOfSpan - dayOfSpan / 1_460 + dayOfSpan / 36_524 - dayOfSpan / 146_096) / 365
    let dayOfYear = dayOfSpan - (365 * yearOfSpan + yearOfSpan / 4 - yearOfSpan / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (
      400 * span + yearOfSpan + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    )
  }

  /// A reader of one text. Each method consumes what it recognizes, or nothing that matters: a
  /// failed parse is given up as a whole.
  private struct Scanner {
    let bytes: [UInt8]
    var index = 0

    var isAtEnd: Bool { index == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
      index += 1
      return true
    }

    mutating func digit() -> Int? {
      guard index < bytes.count, 0x30...0x39 ~= bytes[index] else { return nil }
      index += 1
      return Int(bytes[index - 1]) - 0x30
    }

    mutating func digits(_ count: Int) -> Int? {
      var value = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        value = value * 10 + digit
      }
      return value
    }

    /// One to nine digits behind the point, in nanoseconds.
    mutating func fraction() -> Int? {
      var value = 0
      var count = 0
      while count < 9, let digit = digit() {
        value = value * 10 + digit
        count += 1
      }
      guard count > 0 else { return nil }
      for _ in count..<9 { value *= 10 }
      return value
    }

    /// Seconds east of Greenwich.
    mutating func offset() -> Int? {
      if take("Z") || take("z") { return 0 }
      let isEast = take("+")
      guard isEast || take("-"), let hours = digits(2), take(":"), let minutes = digits(2),
        hours < 24, minutes < 60
      else { return nil }
      let seconds = hours * 3_600 + minutes * 60
      return isEast ? seconds : -seconds
    }
  }
}
