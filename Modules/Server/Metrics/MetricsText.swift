/// Figures in the text format of Prometheus, version 0.0.4.
///
/// Names, labels and their values are the caller's own words: nothing that a client chose.
package struct MetricsText {
  /// The text so far.
  package private(set) var text = ""

  /// A text without figures.
  package init() {}

  /// The types of figures.
  package enum Kind: String {
    /// A number that only grows.
    case counter
    /// A number that comes and goes.
    case gauge
    /// Counts of values by size.
    case histogram
  }

  /// Adds one figure without labels.
  package mutating func add(_ kind: Kind, _ name: String, _ help: String, _ value: Double) {
    begin(kind, name, help)
    line(name, [], value)
  }

  /// Adds one figure without labels.
  package mutating func add(_ kind: Kind, _ name: String, _ help: String, _ value: Int) {
    add(kind, name, help, Double(value))
  }

  /// Adds a figure for each value of one label.
  package mutating func add(
    _ kind: Kind, _ name: String, _ help: String, by label: String,
    _ values: [(String, Int)]
  ) {
    begin(kind, name, help)
    for (value, number) in values { line(name, [(label, value)], Double(number)) }
  }

  /// Adds a figure for each pair of values of two labels.
  package mutating func add(
    _ kind: Kind, _ name: String, _ help: String, by labels: (String, String),
    _ values: [(String, String, Int)]
  ) {
    begin(kind, name, help)
    for (first, second, number) in values {
      line(name, [(labels.0, first), (labels.1, second)], Double(number))
    }
  }

  /// Adds histograms, one for each value of a label.
  ///
  /// - Parameters:
  ///   - unit: The number that one of the histograms' units is of the figure's: 0.000001 for
  ///     microseconds that are told in seconds.
  ///   - label: The name of the label; empty for none.
  package mutating func add(
    _ name: String, _ help: String, unit: Double = 1, by label: String = "",
    _ values: [(String, Histogram)]
  ) {
    begin(.histogram, name, help)
    for (value, histogram) in values {
      let labels = label.isEmpty ? [] : [(label, value)]
      var sum = 0
      for (index, count) in histogram.counts.enumerated() {
        sum += count
        let bound =
          index < histogram.bounds.count
          ? Self.number(Double(histogram.bounds[index]) * unit) : "+Inf"
        line(name + "_bucket", labels + [("le", bound)], Double(sum))
      }
      line(name + "_sum", labels, Double(histogram.sum) * unit)
      line(name + "_count", labels, Double(sum))
    }
  }

  private mutating func begin(_ kind: Kind, _ name: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
  }

  private mutating func line(_ name: String, _ labels: [(String, String)], _ value: Double) {
    text += name
    if !labels.isEmpty {
      text += "{" + labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
    }
    text += " \(Self.number(value))\n"
  }

  /// Whole numbers have no fraction.
  private static func number(_ value: Double) -> String {
    if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
    return "\(value)"
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
