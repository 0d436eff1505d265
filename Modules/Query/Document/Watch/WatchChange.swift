package import TernCore

/// One message of a listen stream, from the server to the client.
///
/// Source: documents reference, sections 5.8 and 6.4.
///
/// Targets are named by the numbers that the client gave them. Messages of one stream are in order,
/// and a client shows nothing of them before a ``WatchTargetChange/Kind/none`` without targets
/// names a read time.
package enum WatchChange: Hashable, Sendable {
  /// A change to the state of targets, without documents.
  case target(WatchTargetChange)
  /// A document as it is now. It belongs to `targets`, and no longer to `removed`.
  case changed(Document, targets: [Int32], removed: [Int32])
  /// A document no longer exists.
  case deleted(DocumentKey, readTime: DocumentVersion, removed: [Int32])
  /// A document no longer belongs to `removed`; it may exist.
  case removed(DocumentKey, readTime: DocumentVersion?, removed: [Int32])
  /// The number of documents of a target, and a filter that tells which of the client's documents
  /// may be among them.
  case filter(target: Int32, count: Int, unchanged: BloomFilter?)
}

/// A change to the state of targets.
package struct WatchTargetChange: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Nothing but the token and the time.
    case none
    /// The request to add was taken up.
    case added
    /// The target is over: by request, or because of a failure.
    case removed(DocumentStatus?)
    /// Everything that belongs to the target was told.
    case current
    /// Earlier messages about the target are void; all of it is sent again.
    case reset
  }

  package let kind: Kind
  /// The targets it is about; empty for all.
  package let targets: [Int32]
  /// From where a later stream may continue; empty when there is none.
  package let resumeToken: [UInt8]
  /// As of when everything told so far is consistent; only without targets.
  package let readTime: DocumentVersion?

  package init(
    _ kind: Kind, targets: [Int32] = [], resumeToken: [UInt8] = [],
    readTime: DocumentVersion? = nil
  ) {
    self.kind = kind
    self.targets = targets
    self.resumeToken = resumeToken
    self.readTime = readTime
  }
}
