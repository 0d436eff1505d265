import TernCore
import TernDocumentWire
import TernQuery

/// Messages of calls about documents, encoded.
enum DocumentMessages {
  static let database = DocumentDatabase(unchecked: "p")

  /// Writes documents of a text of so many bytes.
  static func commit(_ ids: [String], bytes: Int = 1) -> [UInt8] {
    let text = String(repeating: "x", count: bytes)
    let writes = ids.map { id in
      DocumentMutation(DocumentKey(unchecked: "c/\(id)"), .set(["text": .string(text)]))
    }
    return DocumentRequest(.commit(writes, transaction: [], nil), in: database).encode()
  }

  static func get(_ id: String) -> [UInt8] {
    DocumentRequest(.get(DocumentKey(unchecked: "c/\(id)"), mask: nil, .now), in: database).encode()
  }

  /// Watches one document.
  static func watch(_ id: String, target: Int32 = 1) -> [UInt8] {
    let watched = WatchTarget(
      id: target, subject: .documents([DocumentKey(unchecked: "c/\(id)")]))
    return DocumentRequest(.listen(.add(watched)), in: database).encode()
  }

  static let handshake = DocumentRequest(
    .write(DocumentWriteRequest(.handshake(stream: nil))), in: database
  ).encode()
}
