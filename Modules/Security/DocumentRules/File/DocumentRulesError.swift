/// The reason rules for documents are invalid: every problem found, in the order of the file.
///
/// Rules with one problem are rejected as a whole; the rules in force stay in force.
public struct DocumentRulesError: Error, Hashable, Sendable, CustomStringConvertible {
  /// At least one problem.
  public let problems: [DocumentRulesIssue]

  /// Reports problems.
  public init(_ problems: [DocumentRulesIssue]) { self.problems = problems }

  /// One line per problem.
  public var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}

/// One problem in rules for documents.
public struct DocumentRulesIssue: Hashable, Sendable, CustomStringConvertible {
  /// The position of the problem.
  public let position: RulesPosition
  /// The problem, as a sentence.
  public let message: String

  /// Describes a problem.
  public init(_ message: String, at position: RulesPosition) {
    self.position = position
    self.message = message
  }

  /// `L4:14 Recursive call is not allowed.`
  public var description: String { "L\(position.line):\(position.column) \(message)" }
}
