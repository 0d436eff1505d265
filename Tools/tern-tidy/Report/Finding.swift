/// One place where the repository breaks one of its own rules.
struct Finding: Hashable, Comparable, Sendable {
  let file: String
  /// 1-based; 0 for the whole file.
  let line: Int
  let rule: String
  let message: String
  /// The measured thing, for rules with a known figure for each: a type, a dependency. Empty for
  /// rules whose findings are counted together.
  var subject = ""
  /// The measured amount: lines of a type, for example. 1 for rules that count findings.
  var amount = 1

  static func < (left: Finding, right: Finding) -> Bool {
    (left.file, left.line, left.rule, left.message)
      < (right.file, right.line, right.rule, right.message)
  }
}

extension Finding: CustomStringConvertible {
  var description: String { "\(file):\(line): \(rule): \(message)" }
}
