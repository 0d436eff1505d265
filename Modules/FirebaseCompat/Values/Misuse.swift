import TernCore

/// Mistakes that Firebase's signatures cannot report: each ends the program, naming the rule.
enum Misuse {
  /// Parses a path that a caller spelled in code.
  static func path(_ text: String) -> TreePath {
    do throws(TreeError) {
      return try TreePath(text)
    } catch {
      preconditionFailure("\"\(text)\" is not a path: \(error)")
    }
  }
}
