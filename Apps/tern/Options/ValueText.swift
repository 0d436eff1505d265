import TernCore

/// Reads a path from the command line; `/` and the empty text are the root.
func path(_ text: String) throws(Failure) -> TreePath {
  do throws(TreeError) { return try TreePath(text) } catch {
    throw Failure(.usage, "path \"\(text)\": \(error.rule)")
  }
}

/// Reads a node from the command line: JSON, with `.priority` and `.sv` if wanted.
func node(_ text: String) throws(Failure) -> TreeNode {
  do throws(TreeError) { return try TreeNode(json: text) } catch {
    throw Failure(.usage, "value: \(error.rule)" + (error.isNoJSON ? hint(text) : ""))
  }
}

/// What to do about a text that is no JSON: nothing that begins like something else.
private func hint(_ text: String) -> String {
  guard let first = text.first, !"{[\"".contains(first) else { return "" }
  return "; a text needs quotes: '\"\(text)\"', or give --text"
}

extension TreeError {
  fileprivate var isNoJSON: Bool {
    if case .json = self { true } else { false }
  }
}

/// Reads the bound of a query from the command line: JSON null, boolean, number or string.
///
/// - Returns: `nil` when the flag was not given; `.some(nil)` for null.
func scalar(_ text: String?, _ flag: String) throws(Failure) -> TreeScalar?? {
  guard let text else { return nil }
  let node: TreeNode
  do throws(TreeError) { node = try TreeNode(json: text) } catch {
    throw Failure(.usage, "\(flag): \(error.rule)")
  }
  guard node.isEmpty || node.isLeaf else {
    throw Failure(.usage, "\(flag) takes null, a boolean, a number or a string")
  }
  return .some(node.scalar)
}
