public import TernCore
public import TernQuery

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
  /// True when it includes writes of this client that the server has not acknowledged.
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
    query.ordered(node).map { snapshot(of: $0.node, at: path.appending($0.key)) }
  }

  /// Returns the data at a path below; empty when there is none, or when the text is no path.
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
