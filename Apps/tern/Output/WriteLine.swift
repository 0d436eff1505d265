import TernClient
import TernCore

/// Returns a write of the queue as one line, as text or as JSON.
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
