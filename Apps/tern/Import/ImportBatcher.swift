import TernCore

/// The reason a JSON text cannot be imported.
enum ImportError: Error, Equatable {
  case syntax(JSONSyntaxError)
  /// A rule of the tree is broken at `path`, which counts from the top of the file.
  case rule(TreeError, path: String)
  /// A member of an array has no string or integer under the field that names members.
  case missingField(String, path: String)
}

/// Turns JSON pieces into updates of bounded size, whole subtrees at a time.
///
/// Children wait at their parent until the parent ends or a batch is full; a full batch takes
/// everything that waits, wherever in the file it stands.
struct ImportBatcher {
  /// A batch is full at this many leaves, or at this many bytes of strings.
  struct Limits {
    var leaves = 1_000
    var bytes = 256 * 1_024
  }

  /// An array or object that has begun and not ended.
  private struct Frame {
    /// Its key below the frame above; `nil` until the field that names it was read.
    var key: TreeKey?
    var isArray: Bool
    var namesMembers = false
    var nextIndex = 0
    var children: [ChildMap.Element] = []
    var pendingKey: String?
    var value: TreeScalar?
    var priority: TreeScalar?
    /// True when a `.value` was read.
    var isLeaf = false
    var hasChildren = false
    /// True when a part of it has left in an earlier batch.
    var isSplit = false
  }

  private let limits: Limits
  private let keyField: String?
  private var frames: [Frame] = []
  private var done: [TreeMerge.Entry] = []
  private var leafCount = 0
  /// The number of values so far.
  private(set) var leafTotal = 0
  private var byteCount = 0

  /// - Parameter keyField: The field that names the members of arrays which do not lie inside
  ///   another array; `nil` names them by index.
  init(keyField: String? = nil, limits: Limits = Limits()) {
    self.keyField = keyField
    self.limits = limits
  }

  /// Takes one piece; answers a batch when one is full.
  mutating func take(_ token: JSONToken) throws(ImportError) -> [TreeMerge.Entry]? {
    switch token {
    case .beginObject: try begin(isArray: false)
    case .beginArray: try begin(isArray: true)
    case .key(let name): frames[frames.count - 1].pendingKey = name
    case .scalar(let scalar): try add(scalar)
    case .endObject, .endArray: try end()
    }
    return leafCount >= limits.leaves || byteCount >= limits.bytes ? flush() : nil
  }

  /// Returns the batch still pending at the end of the text; `nil` for none.
  mutating func finish() -> [TreeMerge.Entry]? { flush() }
}

// MARK: - Building

extension ImportBatcher {
  private var here: String {
    (frames.compactMap(\.key?.text) + [frames.last?.pendingKey].compactMap(\.self))
      .joined(separator: "/")
  }

  private mutating func begin(isArray: Bool) throws(ImportError) {
    let isNamedLater = frames.last?.namesMembers == true && !isArray
    if isNamedLater { frames[frames.count - 1].nextIndex += 1 }
    let key = isNamedLater || frames.isEmpty ? nil : try nextKey()
    let isInsideArray = frames.contains { $0.isArray }
    frames.append(
      Frame(key: key, isArray: isArray, namesMembers: isArray && keyField != nil && !isInsideArray))
  }

  private mutating func nextKey() throws(ImportError) -> TreeKey {
    let top = frames.count - 1
    if frames[top].isArray {
      frames[top].nextIndex += 1
      return TreeKey(unchecked: String(frames[top].nextIndex - 1))
    }
    let name = frames[top].pendingKey ?? ""
    do throws(TreeError) {
      let key = try TreeKey(name)
      guard frames.count <= TreeLimits.depth else {
        throw .tooDeep(count: frames.count, limit: TreeLimits.depth)
      }
      frames[top].pendingKey = nil
      return key
    } catch {
      throw .rule(error, path: here)
    }
  }

  private mutating func add(_ scalar: TreeScalar?) throws(ImportError) {
    guard let top = frames.indices.last else {
      guard let scalar else { return }
      leafTotal += 1
      done = [TreeMerge.Entry(path: .root, node: TreeNode(scalar))]
      return
    }
    switch frames[top].pendingKey {
    case ".value":
      if let scalar {
        try count(scalar, at: path(through: top).text)
        frames[top].isLeaf = true
        try checkLeaf(top)
      }
      frames[top].pendingKey = nil
      frames[top].value = scalar
      return
    case ".priority":
      if scalar.map({ !$0.isValidPriority }) == true {
        throw .rule(.invalidPriority, path: here)
      }
      frames[top].pendingKey = nil
      frames[top].priority = scalar
      return
    default: break
    }
    let key = try nextKey()
    guard let scalar else { return }
    try count(scalar, at: here + "/" + key.text)
    try append(key, TreeNode(scalar), to: top)
  }

  /// Counts one more value.
  private mutating func count(_ scalar: TreeScalar, at path: String) throws(ImportError) {
    if case .string(let text) = scalar {
      guard text.utf8.count <= TreeLimits.stringBytes else {
        throw .rule(
          .stringTooLong(byteCount: text.utf8.count, limit: TreeLimits.stringBytes), path: path)
      }
      byteCount += text.utf8.count
    }
    leafCount += 1
    leafTotal += 1
  }

  private mutating func append(
    _ key: TreeKey, _ node: TreeNode, to index: Int
  ) throws(ImportError) {
    frames[index].children.append((key, node))
    frames[index].hasChildren = true
    try checkLeaf(index)
  }

  /// A value stands beside no children.
  private func checkLeaf(_ index: Int) throws(ImportError) {
    if frames[index].isLeaf, frames[index].hasChildren {
      throw .rule(.invalidLeaf, path: path(through: index).text)
    }
  }

  private mutating func end() throws(ImportError) {
    var frame = frames.removeLast()
    guard let parent = frames.indices.last else {
      frames.append(frame)
      return
    }
    if frame.key == nil { frame.key = try name(of: frame) }
    guard let key = frame.key else { return }
    if frame.isSplit {
      frames[parent].hasChildren = true
      try checkLeaf(parent)
      done += entries(of: frame, at: path(through: parent).appending(key))
      return
    }
    var node = frame.value.map { TreeNode($0) } ?? TreeNode(children: map(frame.children))
    if let priority = frame.priority { node = node.withPriority(priority) }
    if !node.isEmpty { try append(key, node, to: parent) }
  }

  /// The key of an array's member, from the field that names it.
  private func name(of frame: Frame) throws(ImportError) -> TreeKey {
    let field = keyField ?? ""
    let index = (frames.last?.nextIndex ?? 1) - 1
    let place = (here.isEmpty ? "" : here + "/") + "#\(index)"
    let value = frame.children.first { $0.key.text == field }?.node.scalar
    let text: String
    switch value {
    case .string(let name): text = name
    case .integer(let number): text = String(number)
    case .bool, .double, .serverValue, nil: throw .missingField(field, path: place)
    }
    do throws(TreeError) { return try TreeKey(escapedKey(text)) } catch {
      throw .rule(error, path: place)
    }
  }

  private func map(_ children: [ChildMap.Element]) -> ChildMap {
    var map = ChildMap()
    for (key, node) in children { map.set(key, node) }
    return map
  }
}

// MARK: - Batches

extension ImportBatcher {
  /// Takes everything that waits, down to the first frame without a name.
  private mutating func flush() -> [TreeMerge.Entry]? {
    for index in frames.indices {
      if index > 0 && frames[index].key == nil { break }
      frames[index].isSplit = true
      done += entries(of: frames[index], at: path(through: index))
      frames[index].children = []
      frames[index].value = nil
      frames[index].priority = nil
    }
    defer {
      done = []
      leafCount = 0
      byteCount = 0
    }
    return done.isEmpty ? nil : done
  }

  private func entries(of frame: Frame, at path: TreePath) -> [TreeMerge.Entry] {
    var entries = frame.children.map {
      TreeMerge.Entry(path: path.appending($0.key), node: $0.node)
    }
    if let value = frame.value {
      let node = TreeNode(value)
      entries.append(
        TreeMerge.Entry(path: path, node: frame.priority.map { node.withPriority($0) } ?? node))
    } else if let priority = frame.priority {
      entries.append(
        TreeMerge.Entry(path: path.appending(.priority), node: TreeNode(priority)))
    }
    return entries
  }

  private func path(through index: Int) -> TreePath {
    TreePath(frames[...index].compactMap(\.key))
  }
}
