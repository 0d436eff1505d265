package import TernCore
package import TernQuery

/// Everything a server has told up to one consistent moment.
///
/// Source: documents reference, section 5.8.
package struct DocumentServerEvent: Sendable {
  /// What has changed about one target.
  package struct TargetDelta: Hashable, Sendable {
    /// The documents that came into its result.
    package var added: Set<DocumentKey>
    /// The documents in its result that have changed.
    package var modified: Set<DocumentKey>
    /// The documents that left its result.
    package var removed: Set<DocumentKey>
    /// From where a later listen may continue; empty when there is no new token.
    package var resumeToken: [UInt8]
    /// Whether its result is complete as of this moment.
    package var isCurrent: Bool

    package init(
      added: Set<DocumentKey> = [], modified: Set<DocumentKey> = [],
      removed: Set<DocumentKey> = [], resumeToken: [UInt8] = [], isCurrent: Bool = false
    ) {
      self.added = added
      self.modified = modified
      self.removed = removed
      self.resumeToken = resumeToken
      self.isCurrent = isCurrent
    }

    var changesKeys: Bool { !added.isEmpty || !modified.isEmpty || !removed.isEmpty }
  }

  /// The moment; ``DocumentVersion/none`` for an event made up on the device.
  package var version: DocumentVersion
  /// What has changed, by target.
  package var targets: [Int32: TargetDelta]
  /// Targets that have to be told anew, and why.
  package var mismatched: [Int32: WatchTarget.Purpose]
  /// The documents that came along; one that is missing at no version is forgotten.
  package var documents: [DocumentKey: Document]
  /// Of these the ones that came only because somebody asked whether they exist.
  package var resolvedLimbo: Set<DocumentKey>

  package init(
    version: DocumentVersion, targets: [Int32: TargetDelta] = [:],
    mismatched: [Int32: WatchTarget.Purpose] = [:], documents: [DocumentKey: Document] = [:],
    resolvedLimbo: Set<DocumentKey> = []
  ) {
    self.version = version
    self.targets = targets
    self.mismatched = mismatched
    self.documents = documents
    self.resolvedLimbo = resolvedLimbo
  }
}
