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
    let content = try fileBytes(at: path).withoutMark
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: content)
    } catch {
      throw Failure(.usage, "\(path): not JSON at byte \(error.offset): \(error.reason)")
    }
    guard case .array(let items) = json else { return [try RulesCase(json, number: 1)] }
    guard !items.isEmpty else { throw Failure(.usage, "\(path): there is no case in it") }
    return try items.enumerated().map { try RulesCase($0.element, number: $0.offset + 1) }
  }
}
