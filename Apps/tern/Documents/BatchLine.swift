import TernClient
import TernCore
import TernSync

/// A batch of document writes of the queue as one line, as text or as JSON.
struct BatchLine {
  /// `pending` or `rejected`.
  let state: String
  let id: UInt64
  let mutations: [DocumentMutation]
  /// The reason for its rejection.
  var reason: String?

  /// Returns one line of text, or one JSON object on one line.
  func line(_ text: DocumentText, asJSON: Bool) -> String {
    if asJSON { return json(text) }
    let what =
      switch mutations.count {
      case 0: "nothing: it stands where a damaged batch was"
      case 1: "\(mutations[0].verb) \(mutations[0].key)"
      default: "\(mutations.count) writes of documents, \(mutations[0].key) first"
      }
    return "\(state) d\(id) \(what)" + (reason.map { ": \($0)" } ?? "")
  }

  private func json(_ text: DocumentText) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("state")
    writer.string(state)
    writer.key("id")
    writer.string("d\(id)")
    writer.key("writes")
    writer.beginArray()
    for mutation in mutations { write(mutation, text, to: &writer) }
    writer.endArray()
    writer.key("reason")
    if let reason { writer.string(reason) } else { writer.null() }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private func write(
    _ mutation: DocumentMutation, _ text: DocumentText, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.key("write")
    writer.string(mutation.verb)
    writer.key("path")
    writer.string(mutation.key.text)
    switch mutation.change {
    case .set(let fields):
      writer.key("fields")
      text.write(fields.map, to: &writer)
    case .patch(let fields, let mask):
      writer.key("fields")
      text.write(fields.map, to: &writer)
      writer.key("mask")
      writer.value(.array(mask.paths.map { .string($0.text) }))
    case .delete, .verify: break
    }
    if !mutation.transforms.isEmpty {
      writer.key("transforms")
      writer.beginObject()
      for transform in mutation.transforms {
        writer.key(transform.path.text)
        write(transform.transform, text, to: &writer)
      }
      writer.endObject()
    }
    writer.endObject()
  }

  /// A transform by the name of its flag, with its operand.
  private func write(
    _ transform: DocumentTransform, _ text: DocumentText, to writer: inout JSONWriter
  ) {
    let (name, operand): (String, DocumentValue) =
      switch transform {
      case .serverTimestamp: ("server-time", true)
      case .increment(let number): ("increment", number.value)
      case .maximum(let number): ("maximum", number.value)
      case .minimum(let number): ("minimum", number.value)
      case .arrayUnion(let values): ("array-union", .array(values))
      case .arrayRemove(let values): ("array-remove", .array(values))
      }
    writer.beginObject()
    writer.key(name)
    text.write(operand, to: &writer)
    writer.endObject()
  }
}

extension BatchLine {
  /// A batch that the server rejected.
  init(_ rejected: RejectedDocumentBatch) {
    self.init(
      state: "rejected", id: rejected.id, mutations: rejected.mutations,
      reason: rejected.reason.status)
  }
}

extension DocumentMutation {
  /// The effect of the write, in a word.
  fileprivate var verb: String {
    switch change {
    case .set: "set"
    case .patch: "update"
    case .delete: "delete"
    case .verify: "verify"
    }
  }
}
