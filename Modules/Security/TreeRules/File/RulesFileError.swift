/// The reason a rules file is invalid: every problem in it, in the order of the file.
///
/// A file with one mistake is rejected as a whole; the rules in force stay in force. Show the
/// problems to the author of the file.
public struct RulesFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// At least one problem.
  public let problems: [RulesFileIssue]

  /// One line per problem.
  public var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}

/// One mistake in a rules file.
public struct RulesFileIssue: Hashable, Sendable, CustomStringConvertible {
  /// The position of the problem.
  public let position: RulesPosition
  /// The node of the rules it belongs to, such as `/users/$uid/.write`; `nil` when the file is
  /// not even JSON.
  public let rule: String?
  /// The problem, as a sentence without its full stop.
  public let message: String

  /// `line:column: rule: message`.
  public var description: String {
    let place = rule.map { "\(position): \($0): " } ?? "\(position): "
    return place + message
  }
}

/// A mistake found while reading a text, at a byte of that text.
struct RulesSyntaxError: Error, Equatable {
  let offset: Int
  let message: String

  init(_ message: String, at offset: Int) {
    self.offset = offset
    self.message = message
  }
}
