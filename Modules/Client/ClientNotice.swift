public import TernCore
public import TernQuery

/// Something a developer wants to read in a log; nothing has failed.
public enum ClientNotice: Hashable, Sendable {
  /// The server's rules declare no index for a query, so it has to look at every child at `path`.
  /// Declare one in the rules there. Told once for each.
  case missingIndex(at: TreePath, for: TreeOrder)
}

extension ClientNotice: CustomStringConvertible {
  /// One sentence, with what to do.
  public var description: String {
    switch self {
    case .missingIndex(let path, let order):
      "the server looks at every child of /\(path): add \(order.declaration) to its rules there"
    }
  }
}

extension TreeOrder {
  /// What declares an index for it.
  fileprivate var declaration: String {
    switch self {
    case .key: #"".indexOn": ".key""#
    case .priority: #"".indexOn": ".priority""#
    case .value: #"".indexOn": ".value""#
    case .child(let path): "\".indexOn\": \"\(path)\""
    }
  }
}
