/// One segment of a path: the name of a child below its parent.
///
/// Two keys are equal when their UTF-8 bytes are equal; canonical equivalence plays no part.
/// They sort in key order: names that look like 32-bit integers first, by value, then all
/// others by UTF-16 code unit. Source: realtime reference, section 2.1.
public struct TreeKey: Hashable, Sendable {
  /// The name as written.
  public let text: String

  /// Sorts before every key whose order is larger; ties are settled by the bytes.
  let order: UInt64

  /// The pseudo-key under which a node's priority can be addressed.
  package static let priority = TreeKey(unchecked: ".priority")

  /// The first segment of the client-made, read-only subtree.
  package static let info = TreeKey(unchecked: ".info")

  /// Takes over a name after checking it.
  ///
  /// - Parameter text: 1...768 bytes of UTF-8 without `.`, `#`, `$`, `/`, `[`, `]`, and
  ///   without ASCII control characters.
  /// - Throws: ``TreeError/emptyKey``, ``TreeError/invalidKey(_:)`` or
  ///   ``TreeError/keyTooLong(byteCount:limit:)``.
  public init(_ text: String) throws(TreeError) {
    self.init(unchecked: text)
    if !isWellFormed { throw .invalidKey(text) }
    try checkLength()
  }

  /// Takes over a name that is known to be valid, or one of the pseudo-keys.
  package init(unchecked text: String) {
    self.text = text.contiguous
    order = unsafe text.withBytes(KeyOrder.order)
  }

  private func checkLength() throws(TreeError) {
    let count = text.utf8.count
    if count == 0 { throw .emptyKey }
    if count > TreeLimits.keyBytes {
      throw .keyTooLong(byteCount: count, limit: TreeLimits.keyBytes)
    }
  }

  private var isWellFormed: Bool {
    unsafe text.withBytes { bytes in
      unsafe !bytes.contains(where: KeyOrder.isForbidden)
    }
  }

  /// True when the key names a priority instead of a child.
  package var isPriority: Bool { order == TreeKey.priority.order && text == ".priority" }

  /// The value of an integer-like key, else `nil`.
  package var integer: Int32? {
    order < KeyOrder.firstText ? Int32(Int64(order) - KeyOrder.integerBias) : nil
  }

  public static func == (left: TreeKey, right: TreeKey) -> Bool {
    left.order == right.order && left.text.hasSameBytes(as: right.text)
  }

  public func hash(into hasher: inout Hasher) {
    unsafe text.withBytes { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
  }
}

extension TreeKey: Comparable {
  public static func < (left: TreeKey, right: TreeKey) -> Bool {
    if left.order != right.order { return left.order < right.order }
    return left.compareTied(with: right) < 0
  }

  /// Negative, zero or positive as `self` sorts before, with or after `other`.
  package func compare(_ other: TreeKey) -> Int {
    if order != other.order { return order < other.order ? -1 : 1 }
    return compareTied(with: other)
  }

  /// Returns true when an update replaces the child of this name before `other`: in key order, with
  /// the pseudo-key of priorities behind all others.
  package func isApplied(before other: TreeKey) -> Bool {
    if isPriority || other.isPriority { return !isPriority }
    return self < other
  }

  private func compareTied(with other: TreeKey) -> Int {
    if order < KeyOrder.firstText {
      let lengths = text.utf8.count - other.text.utf8.count
      if lengths != 0 { return lengths }
    }
    return text.compareUTF16(other.text)
  }
}

extension TreeKey: CustomStringConvertible {
  public var description: String { text }
}
