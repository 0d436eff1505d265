import TernCore
import TernSecurity

/// Reads what the commands about rules are given.
enum RulesFile {
  /// Compiles a rules file; every problem in it is one line of the failure.
  static func rules(at path: String) throws -> TreeRules {
    do {
      return try TreeRules(try fileBytes(at: path))
    } catch let error as RulesFileError {
      throw Failure(
        .usage, error.problems.map { "\(path):\($0)" }.joined(separator: "\n"))
    }
  }

  /// Reads a file of cases: one object, or a list of them.
  static func cases(at path: String) throws -> [RulesCase] {
    try items(at: path).enumerated().map { try RulesCase($0.element, number: $0.offset + 1) }
  }

  /// Reads the cases of a file as JSON, at least one.
  static func items(at path: String) throws -> [JSONValue] {
    let content = try fileBytes(at: path).withoutMark
    let json = try json(content, path)
    guard case .array(let items) = json else { return [json] }
    guard !items.isEmpty else { throw Failure(.usage, "\(path): there is no case in it") }
    return items
  }
}
