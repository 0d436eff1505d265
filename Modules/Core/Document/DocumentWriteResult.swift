/// The server's result for one write of a commit. Source: documents reference, sections 3.5 and
/// 6.2.
public struct DocumentWriteResult: Hashable, Sendable {
  /// The version of the document afterwards; `nil` when the write left no document, or none of
  /// its own: the version is then that of the commit.
  public let version: DocumentVersion?

  /// The result of each transform, in order; null for arrays, which every reader computes itself.
  public let transformResults: [DocumentValue]

  /// Describes what became of a write.
  public init(version: DocumentVersion?, transformResults: [DocumentValue] = []) {
    self.version = version
    self.transformResults = transformResults
  }
}
