/// Figures for the text format of Prometheus, version 0.0.4.
///
/// Adding a figure keeps its numbers, which is cheap on the server's executor; ``bytes`` writes the
/// text, beside it. Names, labels and their values are the caller's own words: nothing that a
/// client chose.
package struct MetricsText: Sendable {
  /// Figures of one name.
  struct Family: Sendable {
    let kind: Kind
    let name: String
    let help: String
    let values: Values
  }

  /// The numbers of a family.
  enum Values: Sendable {
    case single(Double)
    /// A number for each value of a label.
    case labeled(String, [(String, Int)])
    /// A number for each pair of values of two labels.
    case paired((String, String), [(String, String, Int)])
    /// A histogram for each value of a label, whose name is empty for none.
    case histograms(String, unit: Double, [(String, Histogram)])
  }

  /// The types of figures.
  package enum Kind: String, Sendable {
    /// A number that only grows.
    case counter
    /// A number that comes and goes.
    case gauge
    /// Counts of values by size.
    case histogram
  }

  private(set) var families: [Family] = []

  /// A text without figures.
  package init() {}

  /// The text, written anew with each call.
  package var bytes: [UInt8] {
    var writer = MetricsWriter()
    for family in families { writer.write(family) }
    return writer.bytes
  }

  /// The text as a string.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Adds one figure without labels.
  package mutating func add(_ kind: Kind, _ name: String, _ help: String, _ value: Double) {
    add(kind, name, help, .single(value))
  }

  /// Adds one figure without labels.
  package mutating func add(_ kind: Kind, _ name: String, _ help: String, _ value: Int) {
    add(kind, name, help, .single(Double(value)))
  }

  /// Adds a figure for each value of one label.
  package mutating func add(
    _ kind: Kind, _ name: String, _ help: String, by label: String,
    _ values: [(String, Int)]
  ) {
    add(kind, name, help, .labeled(label, values))
  }

  /// Adds a figure for each pair of values of two labels.
  package mutating func add(
    _ kind: Kind, _ name: String, _ help: String, by labels: (String, String),
    _ values: [(String, String, Int)]
  ) {
    add(kind, name, help, .paired(labels, values))
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
    add(.histogram, name, help, .histograms(label, unit: unit, values))
  }

  private mutating func add(_ kind: Kind, _ name: String, _ help: String, _ values: Values) {
    families.append(Family(kind: kind, name: name, help: help, values: values))
  }
}
