import TernCore

/// Reads a path from the command line; `/` and the empty text are the root.
func path(_ text: String) throws(Failure) -> TreePath {
  do throws(TreeError) { return try TreePath(text) } catch {
    throw Failure(.usage, "path \"\(text)\": \(error.rule)")
  }
}

/// Reads a node from the command line: JSON, with `.priority` and `.sv` if wanted.
///
/// - Parameter what: The argument, for messages.
func node(_ text: String, _ what: String = "value") throws(Failure) -> TreeNode {
  do throws(TreeError) { return try TreeNode(json: text) } catch {
    guard case .json(let problem) = error else {
      throw Failure(.usage, "\(what): \(error.rule)")
    }
    let hint =
      textHint(text) + (textHint(text).isEmpty || what != "value" ? "" : ", or give --text")
    throw Failure(notJSON: problem, in: Array(text.utf8), what, hint: hint)
  }
}

/// Returns the advice for a text that is no JSON; empty for one that begins like something else.
func textHint(_ text: String) -> String {
  guard let first = text.first, !"{[\"".contains(first) else { return "" }
  return "; a text needs quotes: '\(JSONValue.string(text).json)'"
}

/// Reads the bound of a query from the command line: JSON null, boolean, number or string.
///
/// - Returns: `nil` when the flag was not given; `.some(nil)` for null.
func scalar(_ text: String?, _ flag: String) throws(Failure) -> TreeScalar?? {
  guard let text else { return nil }
  let node = try node(text, flag)
  guard node.isEmpty || node.isLeaf else {
    throw Failure(.usage, "\(flag) takes null, a boolean, a number or a string")
  }
  return .some(node.scalar)
}
