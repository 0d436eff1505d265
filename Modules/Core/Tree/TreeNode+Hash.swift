extension TreeNode {
  /// The hash by which client and server agree that they hold the same value.
  ///
  /// - Returns: 28 characters of base64, or an empty string for an empty node.
  ///   A server value that is still unresolved gives a hash that no stored value has.
  /// - Complexity: O(*n*). Source: realtime reference, section 5.6.
  public var hash: String {
    isEmpty ? "" : Self.text(of: hashText(.reference))
  }

  /// The hash as stock clients for Apple platforms take it; `nil` when it is ``hash``.
  ///
  /// Where every child has a priority, they go through the children in the order of their keys.
  /// - Complexity: O(*n*). Source: realtime reference, section 5.6.
  package var appleHash: String? {
    hasOnlyPrioritizedChildren ? Self.text(of: hashText(.apple)) : nil
  }

  /// The hash as the stock client in JavaScript takes it; `nil` when it is ``hash``.
  ///
  /// It gives some powers of two, and numbers just below one, another exponent.
  /// - Complexity: O(*n*). Source: firebase-admin-node, issue 779.
  package var scriptHash: String? {
    hasScriptNumbers ? Self.text(of: hashText(.script)) : nil
  }

  /// True when the node has a number that the client in JavaScript spells in its own way.
  private var hasScriptNumbers: Bool {
    switch storage {
    case .empty: false
    case .leaf(let scalar): scalar.isScriptNumber
    case .prioritized(let node):
      node.priority.isScriptNumber || node.content.hasScriptNumbers
    case .children(let children): children.contains { $0.node.hasScriptNumbers }
    }
  }

  /// True when this node, or one below, has children, each with a priority.
  private var hasOnlyPrioritizedChildren: Bool {
    switch storage {
    case .empty, .leaf: false
    case .prioritized(let node): node.content.hasOnlyPrioritizedChildren
    case .children(let children):
      children.allSatisfy { $0.node.priority != nil }
        || children.contains { $0.node.hasOnlyPrioritizedChildren }
    }
  }

  /// The clients that hash alike: all by the reference, and two that differ from it in the order of
  /// children of which all have priorities, or in the bits of some numbers.
  fileprivate enum HashForm { case reference, apple, script }

  private static func text(of words: SIMD8<UInt32>) -> String {
    let bytes = (0..<28).map { index in
      let shift = UInt32(24 - 8 * (index & 3))
      return UInt8(truncatingIfNeeded: words[index >> 2] >> shift)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The characters of the hash of a node that is not empty, four to a word.
  ///
  /// Each node's text contains the finished hashes of its children, so equal subtrees hash alike
  /// wherever they are.
  private func hashText(_ form: HashForm) -> SIMD8<UInt32> {
    var digest = SHA1()
    switch storage {
    case .empty: break
    case .leaf(let scalar): scalar.appendHashText(to: &digest, form)
    case .children(let children): children.appendHashText(to: &digest, form)
    case .prioritized(let node):
      digest.update("priority:")
      node.priority.appendHashText(to: &digest, form)
      digest.update(UInt8(ascii: ":"))
      switch node.content.storage {
      case .leaf(let scalar): scalar.appendHashText(to: &digest, form)
      case .children(let children): children.appendHashText(to: &digest, form)
      case .empty, .prioritized: break
      }
    }
    return Base64.encode(digest.finish())
  }
}

extension ChildMap {
  /// Appends the children as `:key:hash`, in priority order if any child has a priority, otherwise
  /// in key order.
  fileprivate func appendHashText(to digest: inout SHA1, _ form: TreeNode.HashForm) {
    let isByPriority =
      contains { $0.node.priority != nil }
      && (form != .apple || contains { $0.node.priority == nil })
    if isByPriority {
      for (key, node) in inPriorityOrder { node.appendHashText(to: &digest, behind: key, form) }
    } else {
      for (key, node) in self { node.appendHashText(to: &digest, behind: key, form) }
    }
  }
}

extension TreeNode {
  fileprivate func appendHashText(
    to digest: inout SHA1, behind key: TreeKey, _ form: HashForm
  ) {
    digest.update(UInt8(ascii: ":"))
    digest.update(key.text)
    digest.update(UInt8(ascii: ":"))
    let text = hashText(form)
    for index in 0..<7 { digest.update(word: text[index]) }
  }
}

extension ChildMap {
  /// The children sorted by priority, then key; key order when no child has a priority.
  package var inPriorityOrder: [Element] {
    let elements = Array(self)
    guard elements.contains(where: { $0.node.priority != nil }) else { return elements }
    // The standard sort is stable, so equal priorities stay in key order.
    return elements.sorted { left, right in
      switch (left.node.priority, right.node.priority) {
      case (nil, nil), (.some, nil): false
      case (nil, .some): true
      case (.some(let a), .some(let b)): a.compare(b) < 0
      }
    }
  }
}

extension TreeScalar {
  /// Appends type and value the way hashes spell them.
  fileprivate func appendHashText(to digest: inout SHA1, _ form: TreeNode.HashForm) {
    digest.update(hashType)
    digest.update(UInt8(ascii: ":"))
    switch self {
    case .string(let text): digest.update(text)
    case .integer(let value): digest.update(hexadecimal: Double(value).hashBits(form))
    case .double(let value): digest.update(hexadecimal: value.hashBits(form))
    case .bool(let value): digest.update(value ? "true" : "false")
    case .serverValue: break
    }
  }

  /// `string`, `number`, `boolean`, or `deferred` for what no stored value is.
  var hashType: String {
    switch self {
    case .bool: "boolean"
    case .integer, .double: "number"
    case .string: "string"
    case .serverValue: "deferred"
    }
  }
}

extension TreeScalar {
  /// True when the client in JavaScript spells this number in its own way.
  fileprivate var isScriptNumber: Bool {
    switch self {
    case .integer(let value): Double(value).scriptBits != Double(value).bitPattern
    case .double(let value): value.scriptBits != value.bitPattern
    case .bool, .string, .serverValue: false
    }
  }
}

extension Double {
  fileprivate func hashBits(_ form: TreeNode.HashForm) -> UInt64 {
    form == .script ? scriptBits : bitPattern
  }
}

extension UInt64 {
  /// Four of the sixteen hexadecimal digits, the first one in the most significant byte.
  @inline(__always)
  func hexadecimalDigits(_ group: Int) -> UInt32 {
    let bits = UInt32(truncatingIfNeeded: self >> UInt64(48 - 16 * group) & 0xFFFF)
    let values = bits.spread(0xF000, 12) | bits.spread(0xF00, 8) | bits.spread(0xF0, 4)
    let digits = values | bits & 0xF
    return digits &+ 48 &* 0x0101_0101 &+ digits.bytes(from: 10) &* 39
  }
}

extension SHA1 {
  /// Adds the sixteen hexadecimal digits of an IEEE double.
  fileprivate mutating func update(hexadecimal bits: UInt64) {
    for group in 0..<4 { update(word: bits.hexadecimalDigits(group)) }
  }
}
