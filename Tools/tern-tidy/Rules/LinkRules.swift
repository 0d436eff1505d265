import Foundation

/// Relative links of the documentation lead to files.
enum LinkRules {
  /// Checks one page of Markdown; `exists` tells whether a path of the repository does.
  static func check(
    _ path: String, _ text: String, exists: (String) -> Bool
  ) -> [Finding] {
    var (findings, isCode) = ([Finding](), false)
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if line.drop(while: { $0 == " " }).hasPrefix("```") { isCode.toggle() }
      guard !isCode else { continue }
      for target in targets(in: line) {
        guard !target.contains("://"), !target.hasPrefix("#"), !target.hasPrefix("mailto:") else {
          continue
        }
        let file = String(target.prefix { $0 != "#" })
        guard !exists(resolve(file, from: path)) else { continue }
        findings.append(
          Finding(
            file: path, line: index + 1, rule: "dead-link", message: "\(target) does not exist"))
      }
    }
    return findings
  }

  /// The targets of `[text](target)` in a line.
  private static func targets(in line: Substring) -> [Substring] {
    line.split(separator: "](").dropFirst().compactMap { rest in
      let target = rest.prefix { $0 != ")" && $0 != " " }
      return target.isEmpty ? nil : target
    }
  }

  /// `target` as seen from the folder of `page`, relative to the repository.
  private static func resolve(_ target: String, from page: String) -> String {
    var parts = page.split(separator: "/").dropLast().map(String.init)
    for part in target.split(separator: "/") {
      if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(String(part)) }
    }
    return parts.joined(separator: "/")
  }
}
