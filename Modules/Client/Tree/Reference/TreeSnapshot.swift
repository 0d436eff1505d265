public import TernCore
public import TernQuery
import TernTreeReplica

/// The data of a listener or a read at one location.
public struct TreeSnapshot: Hashable, Sendable {
  /// The path of the data.
  public let path: TreePath
  /// The data; empty when there is none.
  public let node: TreeNode
  /// The query of the data.
  public let query: TreeQuery
  /// True when everything in the result is known. If not, only the known children are here.
  public let isComplete: Bool
  /// True when the server has not confirmed this on the current connection: it may be out of date.
  public let isFromCache: Bool
  /// The places at and below the path with writes that the server has not acknowledged.
  private let pending: PendingPaths

  init(
    path: TreePath, node: TreeNode, query: TreeQuery = .all, isComplete: Bool = true,
    isFromCache: Bool = false, pending: PendingPaths = PendingPaths()
  ) {
    self.path = path
    self.node = node
    self.query = query
    self.isComplete = isComplete
    self.isFromCache = isFromCache
    self.pending = pending
  }

  /// True when a write of this client at, above or below the path waits for the server.
  ///
  /// A child of a snapshot answers for itself: a write to one child leaves its siblings confirmed.
  public var hasPendingWrites: Bool { !pending.isEmpty }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(query)
  }
}

extension TreeSnapshot {
  /// The last segment of the path; `nil` at the root.
  public var key: TreeKey? { path.last }

  /// The last segment of the path as text; empty at the root.
  public var name: String { key?.text ?? "" }

  /// True when there is any data.
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
    query.ordered(node).map { child in
      snapshot(of: child.node, at: path.appending(child.key), pending: pending.child(child.key))
    }
  }

  /// Returns the data at a path below; empty when there is none, or when the text is no path.
  public subscript(text: String) -> TreeSnapshot {
    do throws(TreeError) {
      let below = try TreePath(text)
      return snapshot(
        of: node.node(at: below), at: path.appending(below), pending: pending.at(below))
    } catch {
      return snapshot(of: .empty, at: path, pending: PendingPaths())
    }
  }

  private func snapshot(
    of node: TreeNode, at path: TreePath, pending: PendingPaths
  ) -> TreeSnapshot {
    TreeSnapshot(
      path: path, node: node, isComplete: isComplete, isFromCache: isFromCache, pending: pending)
  }

  /// Returns true when the whole, or a child that the query selects, has other pending writes than
  /// in another snapshot of the same data.
  func differsInPendingWrites(from other: TreeSnapshot) -> Bool {
    if pending == other.pending { return false }
    if query.loadsAllData || pending.isEmpty != other.pending.isEmpty { return true }
    // Writes to children outside of the result are of no concern to its listeners.
    return node.children.contains { pending.child($0.key) != other.pending.child($0.key) }
  }

  /// The node as a value of a `Decodable` type.
  ///
  /// - Throws: ``TreeCodingError/decoding(_:)`` when the node does not have the type's shape.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self
  ) throws(TreeCodingError) -> Value {
    do throws(TreeCodingError) {
      return try TreeDecoder().decode(type, from: node, key: key)
    } catch {
      throw error.at("/" + path.text)
    }
  }

  /// The value as JSON text; `null` when nothing is there.
  public func json(_ form: TreeNode.JSONForm = .value) -> String { node.json(form) }
}

extension TreeSnapshot: CustomStringConvertible {
  /// The path and the value.
  public var description: String { "/\(path): \(json())" }
}

// MARK: - Events

extension TreeChange {
  /// The name of the child as text; empty for the value of the whole query.
  public var name: String { key?.text ?? "" }

  /// The text, if the child is a text.
  public var string: String? {
    if case .string(let value) = node.scalar { value } else { nil }
  }

  /// The number, if the child is a number.
  public var number: Double? { node.scalar?.number }

  /// The boolean, if the child is a boolean.
  public var bool: Bool? {
    if case .bool(let value) = node.scalar { value } else { nil }
  }

  /// The child as a value of a `Decodable` type.
  ///
  /// - Throws: ``TreeCodingError/decoding(_:)``, with the name of the child.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self
  ) throws(TreeCodingError) -> Value {
    do throws(TreeCodingError) {
      return try TreeDecoder().decode(type, from: node, key: key)
    } catch {
      throw error.at(name)
    }
  }

  /// The child as JSON text; `null` when nothing is there.
  public func json(_ form: TreeNode.JSONForm = .value) -> String { node.json(form) }
}

extension TreeChange: CustomStringConvertible {
  /// The kind of the event, the child and its value.
  public var description: String { "\(kind) \(name): \(json())" }
}
