import TernClient
import TernCore
import TernQuery

/// One thing a listener or a read heard, ready to be printed.
struct EventText {
  /// `value`, `added`, `changed`, `moved` or `removed`.
  let name: String
  let path: TreePath
  let node: TreeNode
  /// The key before it in the order of the query; only for children.
  var previousKey: TreeKey?
  var isChild = true
  var hasPendingWrites = false
  var isFromCache = false
  /// True if all of it is known on this device.
  var isComplete = true

  /// Returns one line of text, or one JSON object on one line.
  func line(asJSON: Bool) -> String {
    asJSON ? json : text
  }

  private var text: String {
    var line = "\(name) \(path.isRoot ? "/" : path.text) \(node.json(.value))"
    if hasPendingWrites { line += " (pending)" }
    if isFromCache { line += " (from the cache)" }
    if !isComplete { line += " (incomplete)" }
    return line
  }

  private var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("event")
    writer.string(name)
    writer.key("path")
    writer.string(path.text)
    writer.key("key")
    if let key = path.last { writer.string(key.text) } else { writer.null() }
    if isChild {
      writer.key("previous")
      if let previousKey { writer.string(previousKey.text) } else { writer.null() }
    }
    writer.key("value")
    node.write(to: &writer, .value)
    if let priority = node.priority {
      writer.key("priority")
      writer.scalar(priority)
    }
    writer.key("pending")
    writer.bool(hasPendingWrites)
    writer.key("fromCache")
    writer.bool(isFromCache)
    writer.key("complete")
    writer.bool(isComplete)
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension EventText {
  /// The whole value of a place.
  init(_ snapshot: TreeSnapshot) {
    self.init(
      name: "value", path: snapshot.path, node: snapshot.node, isChild: false,
      hasPendingWrites: snapshot.hasPendingWrites, isFromCache: snapshot.isFromCache,
      isComplete: snapshot.isComplete)
  }

  /// Creates the text of a change to a child of `path`.
  init(_ change: TreeChange, below path: TreePath) {
    self.init(
      name: "\(change.kind)", path: change.key.map { path.appending($0) } ?? path,
      node: change.node, previousKey: change.previousKey)
  }
}
