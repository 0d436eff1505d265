extension TreeScalar: CustomStringConvertible {
  /// The JSON text, see ``json()``.
  public var description: String { json() }

  /// The value as JSON text, in the form in which it is written; a server value is its object.
  public func json() -> String { TreeNode(self).json(.export) }
}

extension JSONValue: CustomStringConvertible {
  /// The JSON text.
  public var description: String { json }
}

extension TreeWrite: CustomStringConvertible {
  /// The path and the new value; of an update, the paths below it and their values.
  public var description: String {
    switch self {
    case .set(let path, let node): "/\(path): \(node)"
    case .merge(let path, _): "/\(path): \(json())"
    }
  }

  /// The new value as JSON text; of an update, an object of the paths below it and their values.
  public func json() -> String {
    switch self {
    case .set(_, let node): return node.json(.export)
    case .merge(_, let merge):
      var writer = JSONWriter()
      writer.beginObject()
      for entry in merge.entries {
        writer.key(entry.path.description)
        writer.raw(entry.node.jsonBytes(.export))
      }
      writer.endObject()
      return String(decoding: writer.bytes, as: UTF8.self)
    }
  }
}
