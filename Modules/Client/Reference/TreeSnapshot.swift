public import TernCore
public import TernQuery

/// What a listener or a read found at one place.
public struct TreeSnapshot: Hashable, Sendable {
  /// Where it was found.
  public let path: TreePath
  /// What was found; empty when nothing is there.
  public let node: TreeNode
  /// Which part of the place was asked for.
  public let query: TreeQuery
  /// Whether everything in the result is known. If not, only the children that are known are here.
  public let isComplete: Bool
  /// Whether the server has not confirmed this on the current connection: it may be out of date.
  public let isFromCache: Bool
  /// Whether writes of this client are part of it that the server has not acknowledged.
  public let hasPendingWrites: Bool

  package init(
    path: TreePath, node: TreeNode, query: TreeQuery = .all, isComplete: Bool = true,
    isFromCache: Bool = false, hasPendingWrites: Bool = false
  ) {
    self.path = path
    self.node = node
    self.query = query
    self.isComplete = isComplete
    self.isFromCache = isFromCache
    self.hasPendingWrites = hasPendingWrites
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(query)
  }
}

extension TreeSnapshot {
  /// The last segment of the path; `nil` at the root.
  public var key: TreeKey? { path.last }

  /// Whether anything is there.
  public var exists: Bool { !node.isEmpty }

  /// The text, if a text is there.
  public var string: String? {
    if case .string(let value) = node.scalar { value } else { nil }
  }

  /// The number, if a number is there.
  public var number: Double? { node.scalar?.number }

  /// The boolean, if a boolean is there.
  public var bool: Bool? {
    if case .bool(let value) = node.scalar { value } else { nil }
  }

  /// The children in the order of the query.
  public var children: [TreeSnapshot] {
    query.ordered(node).map { snapshot(of: $0.node, at: path.appending($0.key)) }
  }

  /// What is at a path below; empty when nothing is there, or when the text is no path.
  public subscript(text: String) -> TreeSnapshot {
    do throws(TreeError) {
      let below = try TreePath(text)
      return snapshot(of: node.node(at: below), at: path.appending(below))
    } catch {
      return snapshot(of: .empty, at: path)
    }
  }

  private func snapshot(of node: TreeNode, at path: TreePath) -> TreeSnapshot {
    TreeSnapshot(
      path: path, node: node, isComplete: isComplete, isFromCache: isFromCache,
      hasPendingWrites: hasPendingWrites)
  }

  /// The node as a value of a `Decodable` type.
  ///
  /// - Throws: ``TreeCodingError/decoding(_:)`` when the node does not have the type's shape.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self
  ) throws(TreeCodingError) -> Value {
    try TreeDecoder().decode(type, from: node)
  }
}
