import TernCore
import TernStorage

/// Writes the JSON text of a node from its rows, given in key order, without ever holding the node.
///
/// It says the same as building the node and writing that, in memory that grows with the depth of
/// the node and its longest text.
struct RowJSON {
  private enum Shape: Equatable {
    /// No child has come yet: it may be a leaf.
    case open
    case object
    /// The index the next element would have.
    case array(next: Int)
  }

  private struct Level {
    /// The length of the row key's prefix up to the end of the level's segment.
    let end: Int
    var shape = Shape.open
    var scalar: TreeScalar?
    var priority: TreeScalar?
  }

  private let form: TreeNode.JSONForm
  private var levels: [Level]
  private var lastKey: [UInt8] = []
  private(set) var writer = JSONWriter()

  /// A writer of the node whose own row has a key of `baseCount` bytes.
  init(baseCount: Int, _ form: TreeNode.JSONForm) {
    self.form = form
    levels = [Level(end: baseCount)]
  }

  /// Removes and returns what was written since.
  mutating func take() -> [UInt8] { writer.take() }

  /// Takes the next row.
  ///
  /// - Parameter isList: Answers whether the children below a prefix are shown as an array; asked
  ///   once for each node whose first child is an index.
  mutating func add(
    key: Span<UInt8>, value: Span<UInt8>, isList: (Span<UInt8>) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard let scalar = RowValue.decode(value) else { throw .malformedRow(key) }
    var offset = closeLevels(for: key)
    var namesPriority = false
    while offset < key.count {
      guard !namesPriority, let segment = RowKey.segment(of: key, at: &offset) else {
        throw .malformedRow(key)
      }
      namesPriority = segment.isPriority
      if namesPriority { continue }
      let prefix = key.extracting(0..<levels[levels.count - 1].end)
      try open(segment, end: offset) { () throws(StorageError) in try isList(prefix) }
    }
    if namesPriority {
      levels[levels.count - 1].priority = scalar
    } else {
      levels[levels.count - 1].scalar = scalar
    }
    remember(key)
  }

  /// Ends the text; the writer of rows is used up.
  mutating func finish() { closeLevels(from: 0) }

  private mutating func open(
    _ key: TreeKey, end: Int, isList: () throws(StorageError) -> Bool
  ) throws(StorageError) {
    let parent = levels.count - 1
    if levels[parent].shape == .open {
      let mayBeList = form == .value && key.integer.map { $0 >= 0 } ?? false
      if mayBeList, try isList() {
        levels[parent].shape = .array(next: 0)
        writer.beginArray()
      } else {
        levels[parent].shape = .object
        writer.beginObject()
      }
    }
    if case .array(let next) = levels[parent].shape {
      let index = key.integer.map(Int.init) ?? next
      for _ in next..<max(next, index) { writer.null() }
      levels[parent].shape = .array(next: index + 1)
    } else {
      writer.key(key.text)
    }
    levels.append(Level(end: end))
  }

  /// Closes what `key` does not share with the key before it; returns where its news begin.
  private mutating func closeLevels(for key: Span<UInt8>) -> Int {
    let shared = key.firstDifference(from: lastKey.span)
    var depth = levels.count
    while depth > 1, levels[depth - 1].end > shared { depth -= 1 }
    closeLevels(from: depth)
    return levels[depth - 1].end
  }

  private mutating func closeLevels(from depth: Int) {
    while levels.count > depth, let level = levels.popLast() { close(level) }
  }

  private mutating func close(_ level: Level) {
    let priority = form == .export ? level.priority : nil
    switch (level.shape, level.scalar) {
    case (.array, _): writer.endArray()
    case (.object, _):
      if let priority { write(priority) }
      writer.endObject()
    case (.open, let scalar?):
      if let priority {
        writer.beginObject()
        writer.key(".value")
        writer.scalar(scalar)
        write(priority)
        writer.endObject()
      } else {
        writer.scalar(scalar)
      }
    case (.open, nil): writer.null()
    }
  }

  private mutating func write(_ priority: TreeScalar) {
    writer.key(".priority")
    writer.scalar(priority)
  }

  private mutating func remember(_ key: Span<UInt8>) {
    lastKey.removeAll(keepingCapacity: true)
    // Safe: the buffer is only read, and only here.
    unsafe key.withUnsafeBufferPointer { unsafe lastKey.append(contentsOf: $0) }
  }
}
