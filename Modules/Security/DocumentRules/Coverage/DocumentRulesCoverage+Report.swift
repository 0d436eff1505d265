package import TernCore

extension DocumentRulesCoverage {
  /// The results of the expressions of rules, as of one moment.
  package struct Report: Sendable, Equatable {
    /// `{rules, report: [{sourcePosition, values: [{value, count}], children}]}`.
    package let json: JSONValue
    /// A page with the source, and the results beside each line.
    package let page: String

    /// - Returns: `nil` for rules whose results are not counted.
    init?(_ rules: DocumentRules) {
      guard let coverage = rules.coverage else { return nil }
      let writer = ReportWriter(rules: rules, coverage: coverage)
      json = writer.json
      page = writer.page
    }
  }
}

/// Puts a report together.
///
/// Counts change while a report is written; each expression is read once for each form of the
/// report, so the two may differ slightly.
private struct ReportWriter {
  let rules: DocumentRules
  let coverage: DocumentRulesCoverage

  private static let fileName = "firestore.rules"

  private var source: String { String(decoding: rules.source, as: UTF8.self) }

  /// The conditions of all statements, and what functions compute, in the order of the file.
  private var roots: [DocumentRuleExpression] {
    func conditions(_ matches: [DocumentRuleMatch]) -> [DocumentRuleExpression] {
      matches.flatMap { $0.allows.compactMap(\.condition) + conditions($0.matches) }
    }
    let bodies = rules.functions.flatMap { $0.bindings + [$0.body] }
    // A function is compiled for each block that calls it, from one place in the source.
    var seen: Set<Int> = []
    return (conditions(rules.matches) + bodies).filter { seen.insert($0.offset).inserted }
      .sorted { $0.offset < $1.offset }
  }

  var json: JSONValue {
    let file = JSONValue.object([
      .init("name", .string(Self.fileName)), .init("content", .string(source)),
    ])
    return .object([
      .init("rules", .object([.init("files", .array([file]))])),
      .init("report", .array(roots.map(report))),
    ])
  }

  /// Returns the report of an expression and of its operands. One that was never evaluated has no
  /// `values`.
  private func report(_ node: DocumentRuleExpression) -> JSONValue {
    let position = rules.position(at: node.offset)
    var members: [JSONValue.Member] = [
      .init(
        "sourcePosition",
        .object([
          .init("fileName", .string(Self.fileName)), .init("line", .integer(Int64(position.line))),
          .init("column", .integer(Int64(position.column))),
          .init("currentOffset", .integer(Int64(node.offset))),
          .init("endOffset", .integer(Int64(node.end))),
        ]))
    ]
    let values = coverage.counts(of: node)
    if !values.isEmpty {
      let told = values.map { value, count in
        JSONValue.object([.init("value", value.json), .init("count", .integer(Int64(count)))])
      }
      members.append(.init("values", .array(told)))
    }
    let operands = node.operands
    if !operands.isEmpty { members.append(.init("children", .array(operands.map(report)))) }
    return .object(members)
  }

  var page: String {
    var notes: [Int: [String]] = [:]
    for root in roots {
      let values = coverage.counts(of: root)
      let text = values.map { "\($0.value.text) × \($0.count)" }.joined(separator: ", ")
      notes[rules.position(at: root.offset).line, default: []].append(
        values.isEmpty ? "never evaluated" : text)
    }
    var rows = ""
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let note = notes[index + 1]?.joined(separator: "; ") ?? ""
      rows += "<tr><td>\(index + 1)</td><td><pre>\(Self.escaped(line))</pre></td>"
      rows += "<td>\(Self.escaped(note))</td></tr>\n"
    }
    return """
      <!DOCTYPE html>
      <html><head><meta charset="utf-8"><title>Rule coverage</title>
      <style>td { vertical-align: top; padding: 0 1em } pre { margin: 0 }</style></head>
      <body><table>
      \(rows)</table></body></html>

      """
  }

  /// Escapes text for HTML: the source and the results come from users.
  private static func escaped(_ text: some StringProtocol) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}
