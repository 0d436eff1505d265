import ArgumentParser

/// A time on the command line: `30s`, `10m`, `12h`, `30d`; a bare number counts seconds.
struct TimeArgument: ExpressibleByArgument, Equatable {
  let seconds: Int64

  init(seconds: Int64) { self.seconds = seconds }

  init?(argument: String) {
    guard
      let seconds = Units.value(
        argument, ["": 1, "s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800])
    else { return nil }
    self.init(seconds: seconds)
  }

  var duration: Duration { .seconds(seconds) }
  var defaultValueDescription: String { "\(seconds)" }
}

/// A number of bytes on the command line: `64MB`, `64MiB`; a bare number counts bytes.
///
/// K, M, G and T, with or without B, are powers of 1,000; with iB they are powers of 1,024.
struct SizeArgument: ExpressibleByArgument, Equatable {
  let bytes: Int

  init?(argument: String) {
    var units: [String: Int64] = ["": 1, "b": 1]
    for (power, letter) in ["k", "m", "g", "t"].enumerated() {
      var (thousands, binary): (Int64, Int64) = (1, 1)
      for _ in 0...power { (thousands, binary) = (thousands * 1_000, binary * 1_024) }
      units[letter] = thousands
      units[letter + "b"] = thousands
      units[letter + "ib"] = binary
    }
    guard let bytes = Units.value(argument, units).flatMap({ Int(exactly: $0) }) else { return nil }
    self.bytes = bytes
  }
}

/// The forms of times and sizes, for a message that ends with the wrong argument.
func unitAdvice(_ message: String) -> String {
  if message.hasSuffix("<time>'") { return "; a time is 45, 30s, 10m, 12h or 30d" }
  return message.hasSuffix("<size>'") ? "; a size is 4096, 64MB or 64MiB" : ""
}

private enum Units {
  /// Digits and a unit in letters of either case; `nil` for anything else, and for what overflows.
  static func value(_ text: String, _ units: [String: Int64]) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int64(digits), let unit = units[text.dropFirst(digits.count).lowercased()]
    else { return nil }
    let (value, overflows) = number.multipliedReportingOverflow(by: unit)
    return overflows ? nil : value
  }
}
