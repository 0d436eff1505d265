package import TernCore

/// A question of an administrator about rules; it changes nothing.
package enum RulesRequest: Sendable {
  /// Compiles a text and tells its mistakes.
  case check([UInt8], RulesLanguage)
  /// The text of the rules in force for the documents of the project or database that the request
  /// names.
  case readDocuments
  /// Judges a hypothetical request, and tells what every rule said.
  case explain(RulesQuestion)
}

/// The language of rules, by the data they are about.
package enum RulesLanguage: String, Sendable {
  case tree, documents
}

/// One request to be judged by rules, over the data as they are.
package struct RulesQuestion: Sendable {
  /// The language of the rules.
  package var language: RulesLanguage
  /// The rules to judge by; `nil` for those in force.
  package var rules: [UInt8]?
  /// The requested operation: `read`, `write`, `delete`; for documents `get`, `create`, `update`,
  /// `delete`.
  package var operation: String
  /// The path of the node or the document.
  package var path: String
  /// The value of `auth` in rules; null for a caller that did not sign in.
  package var auth: JSONValue
  /// The value that a write brings.
  package var value: JSONValue

  /// Describes a request.
  package init(
    _ language: RulesLanguage, rules: [UInt8]?, operation: String, path: String, auth: JSONValue,
    value: JSONValue
  ) {
    self.language = language
    self.rules = rules
    self.operation = operation
    self.path = path
    self.auth = auth
    self.value = value
  }
}
