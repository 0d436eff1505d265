/// The way from the root of a tree to one of its nodes: a list of keys.
///
/// Paths sort segment by segment in key order; a path sorts before what lies below it.
public struct TreePath: Hashable, Sendable {
  /// The segments, from the root downwards.
  public let keys: [TreeKey]

  /// The path of the whole tree.
  public static let root = TreePath(unchecked: [])

  /// Splits a text on `/`; empty segments are dropped, so `//a/b/` is `a/b`.
  ///
  /// The first segment may be `.info`.
  /// - Throws: What ``TreeKey/init(_:)`` throws about a segment, and
  ///   ``TreeError/tooDeep(count:limit:)`` above ``TreeLimits/pathSegments``.
  public init(_ text: String) throws(TreeError) {
    let keys = try TreePath.split(text)
    if keys.count > TreeLimits.pathSegments {
      throw .tooDeep(count: keys.count, limit: TreeLimits.pathSegments)
    }
    self.keys = keys
  }

  private static func split(_ text: String) throws(TreeError) -> [TreeKey] {
    try unsafe text.withBytes { bytes in
      Result { () throws(TreeError) in
        var keys: [TreeKey] = []
        var start = 0
        while start < bytes.count {
          let end = unsafe bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
          if start < end {
            let segment = unsafe String(decoding: bytes[start..<end], as: UTF8.self)
            let isInfo = keys.isEmpty && segment == ".info"
            if keys.isEmpty { keys.reserveCapacity(4) }
            keys.append(isInfo ? .info : try TreeKey(segment))
          }
          start = end + 1
        }
        return keys
      }
    }.get()
  }

  /// Splits a path that may also end in `.priority`, as paths of writes may.
  package init(writable text: String) throws(TreeError) {
    let suffix = ".priority"
    guard text.hasSuffix(suffix) else {
      self = try TreePath(text)
      return
    }
    let parent = text.dropLast(suffix.utf8.count)
    guard parent.isEmpty || parent.last == "/" else { throw .invalidKey(text) }
    self = try TreePath(String(parent)).appending(.priority)
  }

  /// Takes over segments that are known to be valid.
  package init(unchecked keys: [TreeKey]) {
    self.keys = keys
  }

  /// Makes a path of checked keys.
  public init(_ keys: some Sequence<TreeKey>) {
    self.keys = Array(keys)
  }

  /// True for the path of the whole tree.
  public var isRoot: Bool { keys.isEmpty }

  /// The number of segments.
  public var count: Int { keys.count }

  /// The first segment, `nil` at the root.
  public var first: TreeKey? { keys.first }

  /// The last segment, `nil` at the root.
  public var last: TreeKey? { keys.last }

  /// The path one segment shorter, `nil` at the root.
  public var parent: TreePath? {
    isRoot ? nil : TreePath(unchecked: Array(keys.dropLast()))
  }

  /// The path of a child.
  public func appending(_ key: TreeKey) -> TreePath {
    TreePath(unchecked: keys + CollectionOfOne(key))
  }

  /// The path reached by following `path` from here.
  public func appending(_ path: TreePath) -> TreePath {
    if isRoot { return path }
    return path.isRoot ? self : TreePath(unchecked: keys + path.keys)
  }

  /// The path without its first segment; the root stays the root.
  public func dropFirst() -> TreePath {
    TreePath(unchecked: Array(keys.dropFirst()))
  }

  /// Returns true when `other` is this path or lies below it.
  public func contains(_ other: TreePath) -> Bool {
    keys.count <= other.keys.count && keys.elementsEqual(other.keys.prefix(keys.count))
  }

  /// The way from `ancestor` to here, or `nil` when this path is neither `ancestor` nor below it.
  public func relative(to ancestor: TreePath) -> TreePath? {
    guard ancestor.contains(self) else { return nil }
    return ancestor.isRoot ? self : TreePath(unchecked: Array(keys.dropFirst(ancestor.count)))
  }

  /// The bytes that limits of paths count: those of each segment in UTF-8, and one for the slash
  /// before it.
  public var byteCount: Int {
    keys.reduce(0) { $1.isPriority ? $0 : $0 + $1.text.utf8.count + 1 }
  }

  /// Checks that this path is one a client may ask for.
  ///
  /// - Throws: ``TreeError/pathTooLong(_:limitBytes:)``.
  package func validateLength() throws(TreeError) {
    guard byteCount <= TreeLimits.pathBytes else {
      throw .pathTooLong(self, limitBytes: TreeLimits.pathBytes)
    }
  }

  /// True when the path ends in the pseudo-key of a priority.
  package var namesPriority: Bool { keys.last?.isPriority ?? false }

  /// True when the path lies in the read-only `.info` subtree.
  package var isInfo: Bool { keys.first == .info }
}

extension TreePath: Comparable {
  public static func < (left: TreePath, right: TreePath) -> Bool {
    left.keys.lexicographicallyPrecedes(right.keys)
  }

  /// Returns true when an update replaces this path before `other`: in path order, but a node's
  /// priority behind its children.
  package func isApplied(before other: TreePath) -> Bool {
    keys.lexicographicallyPrecedes(other.keys) { $0.isApplied(before: $1) }
  }
}

extension TreePath: CustomStringConvertible {
  /// The segments joined by `/`, without a leading one; empty at the root.
  public var description: String { text }

  /// The segments joined by `/`, without a leading one; empty at the root.
  public var text: String {
    var text = keys.first?.text ?? ""
    for key in keys.dropFirst() {
      text.append("/")
      text.append(key.text)
    }
    return text
  }
}
