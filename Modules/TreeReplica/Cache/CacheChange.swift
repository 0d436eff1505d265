import TernCore

/// Something that a ``TreeCache`` is to store.
enum CacheChange: Sendable {
  case overwrite(TreePath, TreeNode)
  case replaceWindow(UInt64, TreePath, keys: [TreeKey])
  case changeWindow(UInt64, TreePath, added: [TreeKey], removed: [TreeKey])
  case track(TrackedQuery)

  /// The number of the tracked query that is stored with it; `nil` for data.
  var query: UInt64? {
    switch self {
    case .overwrite: nil
    case .replaceWindow(let id, _, _), .changeWindow(let id, _, _, _): id
    case .track(let query): query.id
    }
  }
}
