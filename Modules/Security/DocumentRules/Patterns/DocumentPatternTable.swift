import TernCore

/// The compiled regular expressions of a file, each text once, within one budget of instructions.
///
/// Functions are resolved where they are declared, and the same literal may occur in many of them:
/// equal texts share one pattern and count once.
struct DocumentPatternTable {
  private var patterns: [ExactText: DocumentPattern] = [:]
  /// The number of instructions of all patterns.
  private(set) var instructions = 0

  /// The pattern of a text, compiled when it is first asked for.
  ///
  /// - Throws: The problem of the pattern, or one when the budget of the file is used up.
  mutating func pattern(_ text: String) throws(DocumentPatternError) -> DocumentPattern {
    if let known = patterns[ExactText(text)] { return known }
    let left = DocumentRulesLimits.patternInstructionsPerFile - instructions
    if left <= 0 { throw DocumentPatternError(message: "the patterns of the file are too large") }
    let pattern = try DocumentPattern(text)
    if pattern.instructions.count > left {
      // Nothing more is compiled for a file that is rejected.
      instructions = DocumentRulesLimits.patternInstructionsPerFile
      throw DocumentPatternError(message: "the patterns of the file are too large")
    }
    instructions += pattern.instructions.count
    patterns[ExactText(text)] = pattern
    return pattern
  }
}
