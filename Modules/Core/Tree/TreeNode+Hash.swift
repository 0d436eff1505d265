extension TreeNode {
  /// The hash by which client and server agree that they hold the same value.
  ///
  /// - Returns: 28 characters of base64, or an empty string for an empty node.
  ///   A server value that is still unresolved gives a hash that no stored value has.
  /// - Complexity: O(*n*). Source: realtime reference, section 5.6.
  public var hash: String {
    String(decoding: hashBytes, as: UTF8.self)
  }

  private var hashBytes: [UInt8] {
    if isEmpty { return [] }
    var digest = SHA1()
    if let priority {
      digest.update("priority:")
      priority.appendHashText(to: &digest)
      digest.update(UInt8(ascii: ":"))
    }
    if let scalar {
      scalar.appendHashText(to: &digest)
    } else {
      for (key, node) in children.inPriorityOrder {
        digest.update(UInt8(ascii: ":"))
        digest.update(key.text)
        digest.update(UInt8(ascii: ":"))
        digest.update(node.hashBytes)
      }
    }
    return Base64.encode(digest.digest())
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
  fileprivate func appendHashText(to digest: inout SHA1) {
    digest.update(hashType)
    digest.update(UInt8(ascii: ":"))
    if case .string(let text) = self {
      digest.update(text)
    } else {
      digest.update(hashValue(quoting: false))
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

  /// The value: numbers as sixteen hexadecimal digits of the IEEE double.
  func hashValue(quoting: Bool) -> [UInt8] {
    switch self {
    case .bool(let value): Array((value ? "true" : "false").utf8)
    case .integer(let value): TreeScalar.hexadecimal(Double(value).bitPattern)
    case .double(let value): TreeScalar.hexadecimal(value.bitPattern)
    case .string(let text): quoting ? TreeScalar.quoted(text) : Array(text.utf8)
    case .serverValue: []
    }
  }

  private static func hexadecimal(_ bits: UInt64) -> [UInt8] {
    stride(from: 60, through: 0, by: -4).map { shift in
      let digit = UInt8(truncatingIfNeeded: bits >> UInt64(shift) & 15)
      return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
  }

  /// The text in double quotes, with `\` before quotes and backslashes.
  static func quoted(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        bytes.append(UInt8(ascii: "\\"))
      }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
    return bytes
  }
}
