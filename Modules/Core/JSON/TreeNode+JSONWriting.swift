extension TreeNode {
  /// The two shapes a node has as JSON. Source: realtime reference, section 1.3.
  public enum JSONForm: Sendable {
    /// Without priorities; children that look like a list become an array.
    case value
    /// With priorities and without arrays; reading it gives the same node.
    case export
  }

  /// The JSON text of this node; `null` when it is empty.
  public func json(_ form: JSONForm) -> String {
    String(decoding: jsonBytes(form), as: UTF8.self)
  }

  /// The JSON text of this node; `null` when it is empty.
  public func jsonBytes(_ form: JSONForm) -> [UInt8] {
    var writer = JSONWriter()
    write(to: &writer, form)
    return writer.bytes
  }

  /// Appends the JSON text of this node to `writer`.
  ///
  /// Recursion is as deep as the tree, at most ``TreeLimits/depth`` for valid trees.
  package func write(to writer: inout JSONWriter, _ form: JSONForm) {
    switch storage {
    case .empty:
      writer.null()
    case .leaf(let scalar):
      writer.scalar(scalar)
    case .children(let children):
      if form == .value, children.arrayLength != nil {
        children.writeArray(to: &writer)
      } else {
        writer.beginObject()
        children.writeMembers(to: &writer, form)
        writer.endObject()
      }
    case .prioritized(let node):
      if form == .value {
        node.content.write(to: &writer, form)
      } else {
        node.write(to: &writer)
      }
    }
  }
}

extension PrioritizedNode {
  /// Writes the export form: a leaf becomes an object with `.value`, and `.priority` comes last.
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let scalar = content.scalar {
      writer.key(".value")
      writer.scalar(scalar)
    } else {
      content.children.writeMembers(to: &writer, .export)
    }
    writer.key(".priority")
    writer.scalar(priority)
    writer.endObject()
  }
}

extension ChildMap {
  fileprivate func writeMembers(to writer: inout JSONWriter, _ form: TreeNode.JSONForm) {
    for (key, node) in self {
      writer.key(key.text)
      node.write(to: &writer, form)
    }
  }

  /// The length of the array these children are shown as, `nil` when they are not.
  ///
  /// Every key is an index without leading zeros, and more than half of the indices are there.
  package var arrayLength: Int? {
    guard let first = first?.key.integer, first >= 0, let last = last?.key.integer,
      Int(last) < 2 * count
    else { return nil }
    let areIndices = allSatisfy { child in
      child.key.text == "0" || child.key.text.utf8.first.map { $0 > UInt8(ascii: "0") } ?? false
    }
    return areIndices ? Int(last) + 1 : nil
  }

  /// Writes children as an array, with `null` for missing indices. Keys ascend by value, so one
  /// pass suffices.
  fileprivate func writeArray(to writer: inout JSONWriter) {
    writer.beginArray()
    var next = 0
    for (key, node) in self {
      let index = key.integer.map(Int.init) ?? next
      while next < index {
        writer.null()
        next += 1
      }
      node.write(to: &writer, .value)
      next += 1
    }
    writer.endArray()
  }
}

extension JSONWriter {
  /// Writes what a leaf holds; server values as `{".sv":…}`.
  package mutating func scalar(_ scalar: TreeScalar) {
    switch scalar {
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .double(let value): double(value)
    case .string(let text): string(text)
    case .serverValue(let value):
      beginObject()
      key(".sv")
      switch value {
      case .timestamp:
        string("timestamp")
      case .increment(let delta):
        beginObject()
        key("increment")
        self.scalar(delta)
        endObject()
      }
      endObject()
    }
  }
}
