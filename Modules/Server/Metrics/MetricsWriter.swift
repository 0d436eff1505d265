/// Writes figures as text. Source: https://prometheus.io/docs/instrumenting/exposition_formats/
///
/// For each family it writes the lines `# HELP` and `# TYPE`, then one line a number: name, labels
/// in braces, value. Histograms are cumulative and end with the bucket `+Inf`, `_sum` and `_count`.
struct MetricsWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ family: MetricsText.Family) {
    append("# HELP ", family.name, " ", family.help)
    append("\n# TYPE ", family.name, " ", family.kind.rawValue)
    append("\n")
    switch family.values {
    case .single(let value): line(family.name, value)
    case .labeled(let label, let values):
      for (value, number) in values { line(family.name, Double(number), (label, value)) }
    case .paired(let labels, let values):
      for (first, second, number) in values {
        line(family.name, Double(number), (labels.0, first), (labels.1, second))
      }
    case .histograms(let label, let unit, let values):
      for (value, histogram) in values {
        write(histogram, family.name, label.isEmpty ? nil : (label, value), unit)
      }
    }
  }

  /// Writes one histogram.
  ///
  /// - Parameter unit: Converts bounds and sum to the unit of the figure.
  private mutating func write(
    _ histogram: Histogram, _ name: String, _ label: (String, String)?, _ unit: Double
  ) {
    let bucket = name + "_bucket"
    var sum = 0
    for (index, count) in histogram.counts.enumerated() {
      sum += count
      let isBounded = index < histogram.bounds.count
      let bound = isBounded ? Self.number(Double(histogram.bounds[index]) * unit) : "+Inf"
      line(bucket, Double(sum), label, ("le", bound))
    }
    line(name + "_sum", Double(histogram.sum) * unit, label)
    line(name + "_count", Double(sum), label)
  }

  private mutating func line(
    _ name: String, _ value: Double, _ first: (String, String)? = nil,
    _ second: (String, String)? = nil
  ) {
    append(name)
    var separator = "{"
    for case (let label, let text)? in [first, second] {
      append(separator, label, "=\"")
      escape(text)
      append("\"")
      separator = ","
    }
    if separator == "," { append("}") }
    append(" ", Self.number(value), "\n")
  }

  private mutating func append(_ texts: String...) {
    for text in texts { bytes.append(contentsOf: text.utf8) }
  }

  /// Appends the value of a label.
  ///
  /// Label values escape the backslash, the quotation mark and the line feed, and nothing else.
  private mutating func escape(_ text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): append("\\\\")
      case UInt8(ascii: "\""): append("\\\"")
      case UInt8(ascii: "\n"): append("\\n")
      default: bytes.append(byte)
      }
    }
  }

  /// Whole numbers have no fraction.
  ///
  /// Doubles above 10¹⁵ are not all representable as integers, and keep the floating-point form.
  private static func number(_ value: Double) -> String {
    if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
    return "\(value)"
  }
}
