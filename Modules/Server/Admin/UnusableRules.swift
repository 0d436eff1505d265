/// Stored rules that could not be taken up, because they are invalid under the present limits.
struct UnusableRules: Equatable, Sendable {
  /// The name of the tree, of the project or of the document database.
  let database: String
  /// The problems of the rules, a line each.
  let problem: String
}
