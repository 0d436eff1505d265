/// Text of clients as a log or a terminal may show it: cut, and without characters that act.
///
/// Paths and strings come from clients and may contain escape sequences for terminals, line breaks
/// that forge log lines, or marks that reverse the direction of text. All of them are written as
/// `\u{…}`.
enum PrintedText {
  /// Returns at most `limit` characters of a path, with its leading `/`.
  static func path(_ text: String, limit: Int = RulesLimits.printedPathCharacters) -> String {
    "/" + cut(text, limit: limit, escaping: "")
  }

  /// Returns at most eighty characters of a string, in quotes.
  static func quoted(_ text: String) -> String {
    "\"" + cut(text, limit: 80, escaping: "\"\\") + "\""
  }

  /// Cuts a text behind `limit` characters and writes out what is no visible text.
  ///
  /// - Parameters:
  ///   - text: The text; only its first `limit + 1` scalars are looked at.
  ///   - limit: The most Unicode scalars of `text` that are shown. Escapes count as one.
  ///   - escaped: Characters that get a backslash.
  private static func cut(_ text: String, limit: Int, escaping escaped: String) -> String {
    let start = text.unicodeScalars.prefix(limit + 1)
    let shown = start.prefix(limit).map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
        "\\u{\(String(scalar.value, radix: 16))}"
      default: escaped.unicodeScalars.contains(scalar) ? "\\\(scalar)" : String(scalar)
      }
    }
    return shown.joined() + (start.count > limit ? "…" : "")
  }
}
