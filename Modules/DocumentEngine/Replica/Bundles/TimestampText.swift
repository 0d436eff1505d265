import TernCore

/// Times as text: `2024-02-29T12:00:00.123456Z`, or with an offset from Greenwich.
enum TimestampText {
  /// Reads a time; `nil` when the text is none, or outside the years 1 to 9999.
  static func parse(_ text: String) -> DocumentTimestamp? {
    var scanner = Scanner(bytes: Array(text.utf8))
    guard let year = scanner.digits(4), scanner.take("-"), let month = scanner.digits(2),
      scanner.take("-"), let day = scanner.digits(2), scanner.take("T") || scanner.take("t"),
      let hour = scanner.digits(2), scanner.take(":"), let minute = scanner.digits(2),
      scanner.take(":"), let second = scanner.digits(2), (1...12).contains(month),
      (1...31).contains(day), hour < 24, minute < 60, second < 60
    else { return nil }
    let nanoseconds = scanner.take(".") ? scanner.fraction() : 0
    guard let nanoseconds, let offset = scanner.offset(), scanner.isAtEnd else { return nil }
    let days = daysSince1970(year: year, month: month, day: day)
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset
    return try? DocumentTimestamp(seconds: Int64(seconds), nanoseconds: Int32(nanoseconds))
  }

  /// Days between the first of January 1970 and a date of the Gregorian calendar.
  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    // Years begin in March here, so that the leap day is the last one.
    let year = month <= 2 ? year - 1 : year
    let monthFromMarch = (month + 9) % 12
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }

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
      guard isEast || take("-"), let hours = digits(2), take(":"), let minutes = digits(2) else {
        return nil
      }
      let seconds = hours * 3_600 + minutes * 60
      return isEast ? seconds : -seconds
    }
  }
}
