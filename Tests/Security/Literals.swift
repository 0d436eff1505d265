public import TernCore

extension TreeKey: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension TreePath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(unchecked: text.split(separator: "/").map { TreeKey(unchecked: String($0)) })
  }
}
