public import TernCore

extension TreePath: ExpressibleByStringLiteral {
  /// Makes a path without checking it.
  public init(stringLiteral text: String) {
    self.init(unchecked: text.split(separator: "/").map { TreeKey(unchecked: String($0)) })
  }
}
