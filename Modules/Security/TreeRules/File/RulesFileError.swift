/// Why a rules file was refused: everything that is wrong with it, in the order of the file.
///
/// A file with one mistake is refused as a whole; the rules in force stay in force. Show the
/// problems to whoever wrote the file.
public struct RulesFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// At least one problem.
  public let problems: [RulesProblem]

  /// One line per problem.
  public var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}

/// One mistake in a rules file.
public struct RulesProblem: Hashable, Sendable, CustomStringConvertible {
  /// Where it is.
  public let position: RulesPosition
  /// The node of the rules it belongs to, such as `/users/$uid/.write`; `nil` when the file is
  /// not even JSON.
  public let rule: String?
  /// What is wrong, as a sentence without its full stop.
  public let message: String

  /// `line:column: rule: message`.
  public var description: String {
    let place = rule.map { "\(position): \($0): " } ?? "\(position): "
    return place + message
  }
}

/// A mistake found while reading a text, at a byte of that text.
struct SyntaxFault: Error, Equatable {
  let offset: Int
  let message: String

  init(_ message: String, at offset: Int) {
    self.offset = offset
    self.message = message
  }
}
