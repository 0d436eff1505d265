/// Hashes of a node cut into ranges of leaves, so that only ranges that differ are sent again.
///
/// Leaves are taken depth first in key order. A node's priority is a leaf of its own, named
/// `.priority` and sorted by that name. Source: realtime reference, section 5.7.
public struct TreeCompoundHash: Hashable, Sendable {
  /// The hash of each range; the last one covers what follows every post and is empty.
  public let hashes: [String]

  /// The path of the last leaf of each range but the last, relative to the node.
  public let posts: [TreePath]

  /// - Parameter hashes: One more than there are posts.
  public init(hashes: [String], posts: [TreePath]) {
    self.hashes = hashes
    self.posts = posts
  }
}

extension TreeNode {
  /// The hashes of this node's ranges. O(*n*); the node must hold no server value.
  ///
  /// A range ends behind the first leaf at which its text exceeds a threshold, which grows with the
  /// square root of the node's size. The client cuts its own data, and the server compares its
  /// leaves range by range at the posts of the client.
  public var compoundHash: TreeCompoundHash {
    let threshold = max(512, Int((100 * Double(estimatedSize)).squareRoot()))
    var hashes: [String] = []
    var posts: [TreePath] = []
    var range = LeafRangeText()
    forEachLeaf { path, leaf in
      range.append(leaf, at: path)
      let isPriority = path.last?.isPriority ?? false
      // No range is closed behind a priority, as in stock clients.
      guard range.utf16Count > threshold, !isPriority else { return }
      hashes.append(range.hash)
      posts.append(TreePath(unchecked: path))
      range = LeafRangeText()
    }
    if !range.isEmpty {
      hashes.append(range.hash)
      posts.append(TreePath(unchecked: range.lastPath))
    }
    return TreeCompoundHash(hashes: hashes + [""], posts: posts)
  }

  /// A guess at the length of this node as text, by the rule that compound hashes are cut by.
  ///
  /// It follows the estimate of stock clients; the threshold of a range is computed from it.
  public var estimatedSize: Int {
    switch storage {
    case .empty: 4
    case .leaf(let scalar): scalar.estimatedSize
    case .children(let children):
      children.reduce(1) { $0 + $1.key.text.utf16.count + 4 + $1.node.estimatedSize }
    case .prioritized(let node):
      if node.content.isLeaf {
        node.content.estimatedSize + 24 + node.priority.estimatedSize
      } else {
        node.content.estimatedSize + ".priority".utf8.count + 4 + node.priority.estimatedSize
      }
    }
  }

  /// Calls `body` for every leaf, and for the priority of every node with children.
  ///
  /// Leaves come in the order of their paths; a priority comes at the position of its name among
  /// the children.
  func forEachLeaf(_ body: (_ path: [TreeKey], _ leaf: TreeNode) -> Void) {
    var path: [TreeKey] = []
    forEachLeaf(below: &path, body)
  }

  private func forEachLeaf(
    below path: inout [TreeKey], _ body: ([TreeKey], TreeNode) -> Void
  ) {
    if isEmpty { return }
    if isLeaf { return body(path, self) }
    var pending = priority
    for (key, node) in children {
      if let priority = pending, TreeKey.priority < key {
        body(path + [.priority], TreeNode(priority))
        pending = nil
      }
      path.append(key)
      node.forEachLeaf(below: &path, body)
      path.removeLast()
    }
    // Stock clients forget a priority that sorts behind all children. Counting it costs a range
    // sent once too often with them, and saves a priority from being lost.
    if let pending { body(path + [.priority], TreeNode(pending)) }
  }
}

/// The text of consecutive leaves that a range's hash is taken over.
///
/// The text nests the keys of each leaf in brackets and shares those of the leaf before. Source:
/// realtime reference, section 5.7.
struct LeafRangeText {
  private var bytes: [UInt8] = []
  /// The keys of the brackets that are still open: the path of the last leaf.
  private var open: [TreeKey] = []

  /// The length of the text in UTF-16 code units, without the brackets still to be closed.
  private(set) var utf16Count = 0

  var isEmpty: Bool { bytes.isEmpty }

  /// The path of the leaf added last.
  var lastPath: [TreeKey] { open }

  /// Adds the next leaf in order.
  mutating func append(_ leaf: TreeNode, at path: [TreeKey]) {
    var shared = 0
    if isEmpty {
      append("(".utf8)
    } else {
      while shared < open.count, shared < path.count, open[shared] == path[shared] { shared += 1 }
      append(repeatElement(UInt8(ascii: ")"), count: open.count - shared))
      append(",".utf8)
    }
    for key in path[shared...] {
      append(quoted: key.text)
      append(":(".utf8)
    }
    append(leaf)
    // Shares no memory with `path`, which its owner goes on changing.
    open.removeLast(open.count - shared)
    open.append(contentsOf: path[shared...])
  }

  /// The hash of the text with every bracket closed; empty without leaves.
  var hash: String {
    if isEmpty { return "" }
    var digest = SHA1()
    digest.update(bytes.span)
    for _ in 0...open.count { digest.update(UInt8(ascii: ")")) }
    return String(decoding: Base64.encode(digest.digest()), as: UTF8.self)
  }

  /// The text with every bracket closed.
  var text: [UInt8] { bytes + repeatElement(UInt8(ascii: ")"), count: open.count + 1) }

  /// Appends the priority and the value of a leaf.
  private mutating func append(_ leaf: TreeNode) {
    if let priority = leaf.priority {
      append("priority:".utf8)
      append(priority)
      append(":".utf8)
    }
    if let scalar = leaf.scalar { append(scalar) }
  }

  /// Appends type and value as hashes spell them; numbers as the sixteen hexadecimal digits of a
  /// double.
  private mutating func append(_ scalar: TreeScalar) {
    append(scalar.hashType.utf8)
    append(":".utf8)
    switch scalar {
    case .string(let text): append(quoted: text)
    case .integer(let value): append(hexadecimal: Double(value).bitPattern)
    case .double(let value): append(hexadecimal: value.bitPattern)
    case .bool(let value): append((value ? "true" : "false").utf8)
    case .serverValue: break
    }
  }

  private mutating func append(hexadecimal bits: UInt64) {
    for group in 0..<4 {
      let digits = bits.hexadecimalDigits(group)
      for shift in stride(from: 24 as UInt32, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: digits >> shift))
      }
    }
    utf16Count += 16
  }

  /// Appends a text in double quotes, with `\` before quotes and backslashes.
  private mutating func append(quoted text: String) {
    append(UInt8(ascii: "\""))
    unsafe text.withBytes { text in
      let isPlain = unsafe text.allSatisfy {
        $0 < 0x80 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      }
      if isPlain {
        unsafe bytes.append(contentsOf: text)
        utf16Count += text.count
        return
      }
      for index in text.indices {
        let byte = unsafe text[index]
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
          append(UInt8(ascii: "\\"))
        }
        append(byte)
      }
    }
    append(UInt8(ascii: "\""))
  }

  private mutating func append(_ text: some Sequence<UInt8>) {
    for byte in text { append(byte) }
  }

  @inline(__always)
  private mutating func append(_ byte: UInt8) {
    bytes.append(byte)
    // A four-byte sequence is a pair of code units; continuation bytes count for nothing.
    if byte & 0xC0 != 0x80 { utf16Count += byte >= 0xF0 ? 2 : 1 }
  }
}

extension TreeScalar {
  fileprivate var estimatedSize: Int {
    switch self {
    case .bool: 4
    case .integer, .double: 8
    case .string(let text): 2 + text.utf16.count
    case .serverValue: 4
    }
  }
}
