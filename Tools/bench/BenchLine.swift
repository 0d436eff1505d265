/// One line of the table: a rate, the baseline's, and what their ratio has to be.
struct BenchLine {
  var name: String
  /// Operations in a second; for a cost, its amount in the unit that the name tells.
  var rate: Double
  var baseline: Double
  /// The least ratio; for a cost, the greatest.
  var target: Double
  /// True for what is better when there is less of it, such as milliseconds.
  var isCost = false

  var ratio: Double { rate / baseline }
  var isMet: Bool { isCost ? ratio <= target : ratio >= target }

  static let heading =
    cell("line", 38, false) + cell("tern/s", 13) + cell("baseline/s", 13) + cell("ratio", 8)
    + cell("target", 8) + "  result"

  var text: String {
    Self.cell(name, 38, false) + Self.cell(amount(rate), 13)
      + Self.cell(amount(baseline), 13)
      + Self.cell(Self.hundredths(ratio, isCost ? .up : .down), 8)
      + Self.cell(Self.hundredths(target), 8) + (isMet ? "  ok" : "  miss")
  }

  /// Measures both in turn and compares the medians, so that a busy moment hits both.
  ///
  /// - Parameter count: The operations of one call.
  static func measure(
    _ name: String, target: Double, count: Int, rounds: Int = 5, tern: () throws -> Void,
    baseline: () throws -> Void
  ) rethrows -> BenchLine {
    var ours: [Double] = []
    var theirs: [Double] = []
    for _ in 0..<rounds {
      theirs.append(try seconds(baseline))
      ours.append(try seconds(tern))
    }
    return BenchLine(
      name: name, rate: Double(count) / median(ours), baseline: Double(count) / median(theirs),
      target: target)
  }

  static func seconds(_ body: () throws -> Void) rethrows -> Double {
    let time = try ContinuousClock().measure(body)
    return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
  }

  static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  /// A number with one digit behind the point.
  static func tenths(_ value: Double) -> String {
    let rounded = Int((value * 10).rounded())
    return "\(rounded / 10).\(rounded % 10)"
  }

  private func amount(_ value: Double) -> String {
    isCost ? Self.tenths(value) : String(Int(value))
  }

  private static func hundredths(
    _ value: Double, _ rule: FloatingPointRoundingRule = .down
  ) -> String {
    let rounded = Int((value * 100).rounded(rule))
    let rest = rounded % 100
    return "\(rounded / 100)." + (rest < 10 ? "0" : "") + "\(rest)"
  }

  private static func cell(_ text: String, _ width: Int, _ isRight: Bool = true) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return isRight ? space + text : text + space
  }
}
