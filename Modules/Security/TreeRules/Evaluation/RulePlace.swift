import TernCore

/// The node that a rule is evaluated at: the end of a path, or a child there, whose own path is put
/// together only on demand.
///
/// Validation visits every child of a written node, and most rules never look at the path. Joining
/// it for each child would allocate an array per child.
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
