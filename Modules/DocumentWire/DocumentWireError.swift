package import TernCore
package import TernQuery

/// The reason bytes are no valid message. Each has a status to answer with, ``status``.
///
/// Two layers throw it. The frame layer throws ``malformed(_:)`` and ``tooLarge(byteCount:limit:)``
/// for the head of a frame, and its caller closes the link because the borders of calls are lost.
/// The message layer throws any case, and its caller ends only the call, or the target or numbered
/// batch that the message was about. Nothing of the message has had an effect by then.
package enum DocumentWireError: Error, Hashable, Sendable {
  /// The bytes are no message of the kind; where they are a frame, close the link.
  case malformed(ProtoError)
  /// The bytes are more than a message or request may have; end the call.
  case tooLarge(byteCount: Int, limit: Int)
  /// A field is missing or holds what it cannot; end the call.
  case member(String)
  /// A name leads into another database than the rest of the message.
  case severalDatabases(String, String)
  /// A value, name or write breaks a rule of the documents.
  case document(DocumentError)
  /// A query breaks a rule.
  case query(DocumentQueryError)
  /// The request is legal, and nothing here serves it.
  case unsupported(String)
}

/// The limits on the size of messages. Source: documents reference, sections 3.6 and 5.2.
package enum DocumentWireLimits {
  /// The most bytes in one message from a server: 17 MiB.
  package static let messageBytes = 17 << 20
  /// The most bytes in one message from a client: 10 MiB.
  package static let requestBytes = 10 << 20
  /// The most pairs of metadata of one call.
  package static let metadataPairs = 64
  /// The most bytes in all metadata of one call: 64 KiB.
  package static let metadataBytes = 64 << 10
  /// The most bytes in the message of a status: 4 KiB; what is longer is cut.
  package static let statusBytes = 4 << 10
  /// The most paths of the fields that are shown of each document of an answer.
  package static let shownPaths = 10_000

  /// The most bytes that the results of one request's writes may take in its answer: 12 MiB.
  ///
  /// It leaves 5 MiB of ``messageBytes`` for the rest of the answer, ``batchStatusBytes`` included.
  package static let resultBytes = 12 << 20
  /// The most bytes of the texts of statuses in one answer: 4 MiB; the others are left out.
  package static let batchStatusBytes = 4 << 20

  /// Checks the results of writes before anything is decided: an answer that no client takes would
  /// have it make them again.
  ///
  /// The estimate is an upper bound for every value except those that documents hold: 28 bytes for
  /// the version and the status of a write, 17 for the timestamp of each transform. The server
  /// calls it for a commit and for a batch of independent writes, before it reads any document.
  ///
  /// - Parameter writes: All writes of one request.
  /// - Throws: INVALID_ARGUMENT when they may take more than ``resultBytes``, whatever documents
  ///   hold.
  /// - Complexity: O(*n*) in the writes.
  package static func checkResults(of writes: [DocumentMutation]) throws(DocumentStatus) {
    // Of a write its version and status, and of a transform a timestamp, with their heads.
    let bytes = writes.reduce(0) { $0 + 28 + 17 * $1.transforms.count }
    if bytes > resultBytes {
      throw DocumentStatus(
        .invalidArgument,
        "The results of these writes may take \(bytes) bytes; \(resultBytes) are allowed.")
    }
  }

  /// Checks the number of fields that a mask or projection shows.
  ///
  /// Each document of an answer is compared with every path, so the cost of an answer is the
  /// product of the two. The check runs when the message is read, before any document is.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` above ``shownPaths`` paths.
  static func checkShown(_ paths: [DocumentFieldPath]) throws(DocumentWireError) {
    if paths.count > shownPaths {
      throw .member("A mask or projection has at most \(shownPaths) field paths.")
    }
  }
}

extension DocumentWireError {
  /// The failure to answer with: which rule is broken, in words.
  ///
  /// Every case is INVALID_ARGUMENT, except that ``unsupported(_:)`` is UNIMPLEMENTED. Clients
  /// treat both as final and do not retry. The texts of names, values and members are those of the
  /// service.
  package var status: DocumentStatus {
    switch self {
    case .malformed(let damage): DocumentStatus(.invalidArgument, damage.rawValue)
    case .tooLarge(let count, let limit):
      DocumentStatus(.invalidArgument, "\(count) bytes are more than the \(limit) allowed")
    case .member(let text): DocumentStatus(.invalidArgument, text)
    case .severalDatabases(let one, let other):
      DocumentStatus(
        .invalidArgument,
        "The request was for database '\(one)' but was attempting to access database "
          + "'\(DocumentNames.databaseName(in: other))'")
    case .document(let error): DocumentStatus(.invalidArgument, error.serviceText)
    case .query(let error): DocumentStatus(.invalidArgument, error.text)
    case .unsupported(let text): DocumentStatus(.unimplemented, text)
    }
  }
}
