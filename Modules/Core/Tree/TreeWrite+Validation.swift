extension TreeWrite {
  /// Checks the limits every write must keep.
  ///
  /// - Throws: The first broken rule: ``TreeError/readOnly(_:)``,
  ///   ``TreeError/tooDeep(count:limit:)``, ``TreeError/invalidKey(_:)``,
  ///   ``TreeError/stringTooLong(byteCount:limit:)``, ``TreeError/notFinite``,
  ///   ``TreeError/invalidPriority``, ``TreeError/invalidServerValue``.
  /// - Complexity: O(*n*) in the size of the values.
  ///
  /// Keys are valid already, because ``TreeKey`` checks them; the pseudo-keys `.info` and
  /// `.priority` can still stand in the wrong place.
  public func validate() throws(TreeError) {
    for entry in assignments {
      if entry.path.isInfo { throw .readOnly(entry.path) }
      try TreeWrite.validatePlaces(in: entry.path)
      if entry.path.namesPriority {
        try TreeWrite.validatePriority(entry.node)
      }
      let depth = entry.path.count - (entry.path.namesPriority ? 1 : 0)
      try entry.node.validate(depth: depth)
    }
  }

  /// Checks everything a client can know to be wrong with a write.
  ///
  /// - Throws: What ``validate()`` throws, and ``TreeError/pathTooLong(_:limitBytes:)``.
  package func validateForStoring() throws(TreeError) {
    try validate()
    try validatePaths(limitBytes: TreeLimits.pathBytes)
  }

  /// Checks that the whole way from the root to every value has at most so many bytes, counted
  /// as ``TreePath/byteCount`` does.
  ///
  /// Servers call it with ``TreeLimits/storedPathBytes``, clients with ``TreeLimits/pathBytes``.
  package func validatePaths(limitBytes: Int) throws(TreeError) {
    for entry in assignments {
      guard entry.node.fits(behind: entry.path.byteCount, limitBytes) else {
        throw .pathTooLong(entry.path, limitBytes: limitBytes)
      }
    }
  }

  /// Checks that what is no key stands only where it means something: an update at a path names
  /// others from there, and each of them may begin and end as a path may.
  private static func validatePlaces(in path: TreePath) throws(TreeError) {
    for (index, key) in path.keys.enumerated() {
      let isLast = index == path.keys.count - 1
      if key == .info || (key.isPriority && !isLast) { throw .invalidKey(key.text) }
    }
  }

  private static func validatePriority(_ node: TreeNode) throws(TreeError) {
    if node.isEmpty { return }
    guard let scalar = node.scalar, scalar.isValidPriority, node.priority == nil else {
      throw .invalidPriority
    }
  }
}

extension TreeNode {
  /// Returns true when no value of this node lies behind more than `limit` bytes of path.
  fileprivate func fits(behind bytes: Int, _ limit: Int) -> Bool {
    guard bytes <= limit else { return false }
    for (key, child) in children
    where !child.fits(behind: bytes + key.text.utf8.count + 1, limit) {
      return false
    }
    return true
  }

  /// Checks this node as it would lie `depth` segments below the root.
  ///
  /// - Throws: ``TreeError/tooDeep(count:limit:)``, ``TreeError/invalidPriority``, or an error
  ///   about a scalar.
  fileprivate func validate(depth: Int) throws(TreeError) {
    switch storage {
    case .empty: return
    case .leaf(let scalar):
      if depth > TreeLimits.depth { throw .tooDeep(count: depth, limit: TreeLimits.depth) }
      try scalar.validate()
    case .children(let children):
      if depth >= TreeLimits.depth { throw .tooDeep(count: depth + 1, limit: TreeLimits.depth) }
      for (_, node) in children { try node.validate(depth: depth + 1) }
    case .prioritized(let node):
      guard node.priority.isValidPriority else { throw .invalidPriority }
      try node.priority.validate()
      try node.content.validate(depth: depth)
    }
  }
}

extension TreeScalar {
  /// Checks the limits of one value.
  package func validate() throws(TreeError) {
    switch self {
    case .bool, .integer, .serverValue(.timestamp): return
    case .double(let value):
      if !value.isFinite { throw .notFinite }
    case .string(let value):
      let count = value.utf8.count
      if count > TreeLimits.stringBytes {
        throw .stringTooLong(byteCount: count, limit: TreeLimits.stringBytes)
      }
    case .serverValue(.increment(let delta)):
      guard let number = delta.number else { throw .invalidServerValue }
      if !number.isFinite { throw .notFinite }
    }
  }
}
