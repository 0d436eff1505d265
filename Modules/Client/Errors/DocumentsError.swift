public import TernCore
import TernDocumentWire
public import TernQuery
public import TernSync

/// The reason an operation on documents failed, or ended.
public enum DocumentsError: Error, Hashable, Sendable {
  /// A path, a value or a write breaks a rule of documents. Correct it.
  case invalid(DocumentError)
  /// A value could not be turned into a document.
  case coding(DocumentCodingError)
  /// A query breaks a rule. Correct it.
  case invalidQuery(DocumentQueryError)
  /// A bundle cannot be read. Fetch it again.
  case invalidBundle(BundleError)
  /// The server refused, or cannot be reached where it is needed; the code tells which.
  case refused(DocumentStatus)
  /// The queue could not store a write: it is full, or its disk failed.
  case queue(QueueError)
  /// The user changed, or the wait was given up.
  case cancelled
  /// The server did not answer in this time. The write goes on.
  case timedOut(after: Duration)
  /// The documents were closed.
  case closed
  /// The database was opened for the tree alone: name ``ClientParts/documents``.
  case notOpened
}

extension DocumentsError: TernError {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .invalid(let error): error.text
    case .coding(let error): error.description
    case .invalidQuery(let error): error.text
    case .invalidBundle(let error): "the bundle cannot be read: \(error)"
    case .refused(let status): "\(status.code): \(status.message)"
    case .queue(let error): "the write was not stored: \(error)"
    case .cancelled: "it was given up"
    case .timedOut(let limit):
      "the server did not answer within \(limit); the write stays queued"
    case .closed: "the documents were closed"
    case .notOpened: "the database was opened without documents"
    }
  }
}
