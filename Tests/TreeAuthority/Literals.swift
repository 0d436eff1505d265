public import TernCore

extension TreeKey: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension TreePath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(unchecked: text.split(separator: "/").map { TreeKey(unchecked: String($0)) })
  }
}

/// Makes a path the checked way; `TreePath("…")` with a literal would be the unchecked one.
func path(_ text: String) throws(TreeError) -> TreePath { try TreePath(text) }
