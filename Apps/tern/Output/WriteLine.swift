import TernClient
import TernCore

/// A write of the queue as one line, for people or as JSON.
func writeLine(
  _ state: String, _ id: UInt64, _ write: TreeWrite, _ reason: String?, asJSON: Bool
) -> String {
  let paths = write.assignments.map { "/" + $0.path.text }
  guard asJSON else {
    let place =
      switch paths.count {
      case 0: "nothing: it stands where a damaged write was"
      case 1: paths[0]
      default: "\(paths.count) paths at /\(write.path.text)"
      }
    return "\(state) \(id) \(place)" + (reason.map { ": \($0)" } ?? "")
  }
  var writer = JSONWriter()
  writer.beginObject()
  writer.key("state")
  writer.string(state)
  writer.key("id")
  writer.integer(id)
  writer.key("values")
  writer.beginObject()
  for entry in write.assignments {
    writer.key(entry.path.text)
    entry.node.write(to: &writer, .export)
  }
  writer.endObject()
  writer.key("reason")
  if let reason { writer.string(reason) } else { writer.null() }
  writer.endObject()
  return String(decoding: writer.bytes, as: UTF8.self)
}

/// A batch of writes to documents as one line, for people or as JSON.
func batchLine(
  _ state: String, _ id: UInt64, _ mutations: [DocumentMutation], _ reason: String?, asJSON: Bool
) -> String {
  var seen: Swift.Set<DocumentKey> = []
  let keys = mutations.map(\.key).filter { seen.insert($0).inserted }
  guard asJSON else {
    let place =
      switch keys.count {
      case 0: "nothing: it stands where a damaged batch was"
      case 1: keys[0].text
      default: "\(keys.count) documents, \(keys[0].text) first"
      }
    return "\(state) \(id) \(place)" + (reason.map { ": \($0)" } ?? "")
  }
  var writer = JSONWriter()
  writer.beginObject()
  writer.key("state")
  writer.string(state)
  writer.key("id")
  writer.integer(id)
  writer.key("documents")
  writer.beginArray()
  for key in keys { writer.string(key.text) }
  writer.endArray()
  writer.key("reason")
  if let reason { writer.string(reason) } else { writer.null() }
  writer.endObject()
  return String(decoding: writer.bytes, as: UTF8.self)
}
