/// What a server made of one write of a commit. Source: documents reference, sections 3.5 and 6.2.
public struct DocumentWriteResult: Hashable, Sendable {
  /// The version of the document afterwards; `nil` when the write left no document, or none of
  /// its own: the version is then that of the commit.
  public let version: DocumentVersion?

  /// What each transform made, in order; null for arrays, which every reader works out.
  public let transformResults: [DocumentValue]

  /// Describes what became of a write.
  public init(version: DocumentVersion?, transformResults: [DocumentValue] = []) {
    self.version = version
    self.transformResults = transformResults
  }
}
