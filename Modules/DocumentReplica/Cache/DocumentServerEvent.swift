package import TernCore
package import TernQuery

/// Everything a server has told up to one consistent moment.
///
/// Source: documents reference, section 5.8.
package struct DocumentServerEvent: Sendable {
  /// The changes of one target.
  package struct TargetDelta: Hashable, Sendable {
    /// The documents that came into its result.
    package var added: Set<DocumentKey>
    /// The documents in its result that have changed.
    package var modified: Set<DocumentKey>
    /// The documents that left its result.
    package var removed: Set<DocumentKey>
    /// From where a later listen may continue; empty when there is no new token.
    package var resumeToken: [UInt8]
    /// `true` if its result is complete as of this moment.
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
  /// The changes by target.
  package var targets: [Int32: TargetDelta]
  /// The targets that must be listened to again, each with the reason.
  package var mismatched: [Int32: WatchTarget.Purpose]
  /// The documents that came along, each key once. A missing one without a version is removed.
  package var documents: [Document]
  /// The documents among them that came only to resolve limbo.
  package var resolvedLimbo: Set<DocumentKey>

  package init(
    version: DocumentVersion, targets: [Int32: TargetDelta] = [:],
    mismatched: [Int32: WatchTarget.Purpose] = [:], documents: [Document] = [],
    resolvedLimbo: Set<DocumentKey> = []
  ) {
    self.version = version
    self.targets = targets
    self.mismatched = mismatched
    self.documents = documents
    self.resolvedLimbo = resolvedLimbo
  }
}
