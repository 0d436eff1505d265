/// The measures of the code base that its structure is judged by.
struct Figures {
  let files: [SourceFile]
  let manifest: Manifest
  let findings: [Finding]

  private var modules: [SourceFile] { files.filter { $0.area == "Modules" } }

  /// One row for each measure: name, goal, present figure.
  var rows: [(name: String, goal: String, value: String)] {
    let modules = modules
    let lines = modules.map(\.lines.count).sorted()
    let source = lines.reduce(0, +)
    let bodies = modules.flatMap { $0.outline.declarations }
      .filter { $0.kind == .function }.map(\.length).sorted()
    let sizes = TypeSize.measure(modules)
    let comments = modules.reduce(0) { $0 + $1.commentLines }
    return [
      ("files and lines in Modules", "any", "\(modules.count) / \(source)"),
      (
        "file: median / p90 / longest", "60–130 / 300 / 400",
        "\(part(lines, 0.5)) / \(part(lines, 0.9)) / \(lines.last ?? 0)"
      ),
      (
        "function: median / p90 / longest", "any / 30 / 70",
        "\(part(bodies, 0.5)) / \(part(bodies, 0.9)) / \(bodies.last ?? 0)"
      ),
      (
        "types over \(LengthRules.typeLines) / 1,000 lines", "0 / 0",
        "\(sizes.count { $0.lines > LengthRules.typeLines }) / \(sizes.count { $0.lines > 1000 })"
      ),
      (
        "largest types", "",
        sizes.prefix(5).map { "\($0.name) \($0.lines)" }.joined(separator: ", ")
      ),
      ("dependencies upward or across", "0", "\(count("layer"))"),
      ("imports not declared", "0", "\(count("import"))"),
      ("dependencies not used", "0", "\(count("unused-dependency"))"),
      ("libraries without a public API", "0", "\(count("product"))"),
      ("@unchecked per 1,000 lines", "0.1", thousandth(unchecked, source)),
      ("try!, as! and x!", "0", "\(count("force-unwrap") + unsafeForces)"),
      ("comments", "20–35 %", percent(comments, source)),
      ("comments wider than 100 columns", "0", "\(count("comment-width"))"),
      ("public declarations documented", "100 %", documented),
      ("summaries that begin with a question word", "2 %", percent(questions, summaries)),
      ("comment lines that speak of people", "0.3 %", percent(count("prose-people"), allComments)),
      ("lines of tests to lines of source", "0.8", ratio(testLines, source)),
    ]
  }

  var text: String {
    let width = rows.map(\.name.count).max() ?? 0
    return rows.map { row in
      row.name + String(repeating: " ", count: width + 2 - row.name.count) + row.value
        + (row.goal.isEmpty ? "" : "   (goal \(row.goal))")
    }.joined(separator: "\n")
  }

  /// The share of summaries and of comment lines in `files` that break the rules of prose.
  var prose: String {
    """
    \(questions) of \(summaries) summaries begin with a question word (\(percent(questions, summaries)), goal 2 %)
    \(count("prose-people")) of \(allComments) comment lines speak of people \
    (\(percent(count("prose-people"), allComments)), goal 0.3 %)
    """
  }

  private var questions: Int { count("prose-summary") }
  private var summaries: Int { files.reduce(0) { $0 + CommentRules.prose(of: $1).summaries } }
  private var allComments: Int { files.reduce(0) { $0 + $1.commentLines } }
  private var testLines: Int {
    files.filter { $0.area == "Tests" }.reduce(0) { $0 + $1.lines.count }
  }
  private var unsafeForces: Int {
    findings.count { $0.message.hasPrefix("try!") || $0.message.hasPrefix("as!") }
  }
  private var documented: String {
    let share = DocumentationRules(files).share(of: modules)
    return "\(Double(Int(share * 10)) / 10) %"
  }

  private func count(_ rule: String) -> Int { findings.count { $0.rule == rule } }

  private var unchecked: Int {
    modules.reduce(0) { sum, file in
      sum
        + zip(file.tokens, file.tokens.dropFirst())
        .count { $0.text == "@" && $1.text == "unchecked" }
    }
  }

  private func part(_ sorted: [Int], _ share: Double) -> Int {
    sorted.isEmpty ? 0 : sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
  }

  private func percent(_ part: Int, _ whole: Int) -> String {
    whole == 0 ? "0 %" : "\((Double(part) / Double(whole) * 10_000).rounded() / 100) %"
  }

  private func thousandth(_ part: Int, _ whole: Int) -> String {
    whole == 0 ? "0" : "\((Double(part) / Double(whole) * 100_000).rounded() / 100)"
  }

  private func ratio(_ part: Int, _ whole: Int) -> String {
    whole == 0 ? "0" : "\((Double(part) / Double(whole) * 100).rounded() / 100)"
  }
}

extension SourceFile {
  /// Lines with a comment.
  var commentLines: Int { lines.indices.count { comment(on: $0) != nil } }
}
