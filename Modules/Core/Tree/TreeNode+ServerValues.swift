extension TreeNode {
  /// True when a server value is pending anywhere in this node. O(*n*).
  public var containsServerValues: Bool {
    switch storage {
    case .empty: false
    case .leaf(let scalar): scalar.isServerValue
    case .children(let children): children.contains { $0.node.containsServerValues }
    case .prioritized(let node):
      node.priority.isServerValue || node.content.containsServerValues
    }
  }

  /// This node with every server value replaced by what it stands for.
  ///
  /// - Parameters:
  ///   - existing: The node this one replaces: increments add to the number at the same path,
  ///     in priorities to the existing priority.
  ///   - now: The instant of the write, in milliseconds since 1970.
  /// - Returns: The same node, sharing everything, when there is nothing to replace.
  public func resolvingServerValues(existing: TreeNode, now: Int64) -> TreeNode {
    switch storage {
    case .empty:
      return self
    case .leaf(let scalar):
      guard scalar.isServerValue else { return self }
      return TreeNode(.leaf(scalar.resolved(existing: existing.scalar, now: now)))
    case .children(let children):
      var result = children
      for (key, node) in children where node.containsServerValues {
        result.set(key, node.resolvingServerValues(existing: existing.child(key), now: now))
      }
      return TreeNode(.children(result))
    case .prioritized(let node):
      guard containsServerValues else { return self }
      let content = node.content.resolvingServerValues(existing: existing, now: now)
      return content.withPriority(node.priority.resolved(existing: existing.priority, now: now))
    }
  }
}

extension TreeScalar {
  /// True for a value that the server fills in.
  public var isServerValue: Bool {
    if case .serverValue = self { return true }
    return false
  }

  /// Returns the value that replaces this one above `existing` at the instant `now`.
  ///
  /// Integers add as 64-bit integers; an overflow, or a double on either side, adds doubles. A sum
  /// beyond the range of a double is the largest double of its sign: no number may be infinite.
  /// Source: realtime reference, section 9.
  package func resolved(existing: TreeScalar?, now: Int64) -> TreeScalar {
    guard case .serverValue(let value) = self else { return self }
    switch value {
    case .timestamp:
      return .integer(now)
    case .increment(let delta):
      guard let existing, let base = existing.number, let step = delta.number else { return delta }
      if case .integer(let a) = existing, case .integer(let b) = delta {
        let (sum, overflow) = a.addingReportingOverflow(b)
        if !overflow { return .integer(sum) }
      }
      let largest = Double.greatestFiniteMagnitude
      return .double(min(max(base + step, -largest), largest))
    }
  }
}
