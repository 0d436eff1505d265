public import TernCore
import TernDocumentWire
public import TernQuery
public import TernSync

/// Why something about documents was not done, or ended.
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
  /// The documents were closed.
  case closed
}

extension DocumentsError: CustomStringConvertible {
  /// What is wrong, in words.
  public var description: String {
    switch self {
    case .invalid(let error): error.text
    case .coding(.invalid(let error)): error.text
    case .coding(.encoding(let text)), .coding(.decoding(let text)): text
    case .invalidQuery(let error): error.text
    case .invalidBundle(let error): "the bundle cannot be read: \(error)"
    case .refused(let status): "\(status.code): \(status.message)"
    case .queue(let error): "the write was not stored: \(error)"
    case .cancelled: "it was given up"
    case .closed: "the documents were closed"
    }
  }
}
