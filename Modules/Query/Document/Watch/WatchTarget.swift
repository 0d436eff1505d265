package import TernCore

/// Something a client asks to be told about, as it is sent: one target of a listen stream.
///
/// Source: documents reference, sections 5.9, 6.2 and 6.4.
package struct WatchTarget: Hashable, Sendable {
  /// The documents or the query to watch.
  package enum Subject: Hashable, Sendable {
    /// The result of a query.
    case query(DocumentTarget)
    /// These documents, whether they exist or not.
    case documents([DocumentKey])

    /// The same subject, equal to that of every other list of the same documents.
    package var canonical: Subject {
      switch self {
      case .query: self
      case .documents(let keys): .documents(Set(keys).sorted())
      }
    }
  }

  /// From where a server may continue instead of telling everything again.
  package enum Resume: Hashable, Sendable {
    /// The token of an earlier stream, as the server sent it.
    case token([UInt8])
    case readTime(DocumentVersion)
  }

  /// The reason a client watches; any reason other than a listener is sent along as a label.
  package enum Purpose: String, Hashable, Sendable {
    case listen = ""
    /// A result that is asked for again, because the count of an existence filter did not fit.
    case existenceFilterMismatch = "existence-filter-mismatch"
    /// The same, after a Bloom filter gave false positives.
    case existenceFilterMismatchBloom = "existence-filter-mismatch-bloom"
    /// A lookup of a document that the client shows and the server's result no longer names.
    case limboResolution = "limbo-document"
  }

  /// The client's name for it, unique on its stream, above zero.
  package let id: Int32
  package let subject: Subject
  package let resume: Resume?
  /// The number of documents of the result that the client holds; with ``resume`` only.
  package let expectedCount: Int?
  package let purpose: Purpose
  /// True when the target ends after its first complete result.
  package let isOnce: Bool

  package init(
    id: Int32, subject: Subject, resume: Resume? = nil, expectedCount: Int? = nil,
    purpose: Purpose = .listen, isOnce: Bool = false
  ) {
    self.id = id
    self.subject = subject
    self.resume = resume
    self.expectedCount = expectedCount
    self.purpose = purpose
    self.isOnce = isOnce
  }
}
