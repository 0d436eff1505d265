import TernClient
import TernCore

/// A document as one line, as text or as JSON.
struct DocumentLine {
  /// `added`, `modified`, `metadata` or `removed`; `nil` where nothing happened.
  var event: String?
  let path: String
  /// The fields; `nil` when it does not exist.
  let fields: DocumentMap?
  var version: DocumentVersion?
  var hasPendingWrites = false
  var isFromCache = false

  /// Creates the line of a snapshot.
  init(_ snapshot: SingleDocumentSnapshot, event: String? = nil) {
    self.event = event
    path = snapshot.reference.path
    fields = snapshot.data()
    version = snapshot.version
    hasPendingWrites = snapshot.metadata.hasPendingWrites
    isFromCache = snapshot.metadata.isFromCache
  }

  /// Returns one line of text, or one JSON object on one line.
  func line(_ text: DocumentText, asJSON: Bool) -> String {
    if asJSON { return json(text) }
    var line = (event.map { $0 + " " } ?? "") + "\(path) \(text.line(fields))"
    if hasPendingWrites { line += " (pending)" }
    if isFromCache { line += " (from the cache)" }
    return line
  }

  private func json(_ text: DocumentText) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("event")
    writer.string(event ?? "value")
    writer.key("path")
    writer.string(path)
    writer.key("fields")
    text.write(fields, to: &writer)
    writer.key("version")
    if let version {
      writer.string(TimestampText.text(of: version.timestamp))
    } else {
      writer.null()
    }
    writer.key("pending")
    writer.bool(hasPendingWrites)
    writer.key("fromCache")
    writer.bool(isFromCache)
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
