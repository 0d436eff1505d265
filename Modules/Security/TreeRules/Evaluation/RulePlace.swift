import TernCore

/// The node that a rule is evaluated at: the end of a path, or a child there, whose own path is put
/// together only on demand.
struct RulePlace {
  private let parent: TreePath
  private let name: TreeKey?

  init(_ path: TreePath) {
    parent = path
    name = nil
  }

  init(_ name: TreeKey, below parent: TreePath) {
    self.parent = parent
    self.name = name
  }

  var path: TreePath { name.map { parent.appending($0) } ?? parent }
}
