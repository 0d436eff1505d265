/// One place where the repository breaks one of its own rules.
struct Finding: Hashable, Comparable {
  let file: String
  /// 1-based; 0 when the whole file is meant.
  let line: Int
  let rule: String
  let message: String

  static func < (left: Finding, right: Finding) -> Bool {
    (left.file, left.line, left.rule) < (right.file, right.line, right.rule)
  }
}

extension Finding: CustomStringConvertible {
  var description: String { "\(file):\(line): \(rule): \(message)" }
}
