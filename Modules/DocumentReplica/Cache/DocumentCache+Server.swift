package import TernCore
import TernQuery
import TernStorage

// What a server tells. Source: documents reference, sections 5.5 and 5.8.
extension DocumentCache {
  /// The most that a target's version may run ahead of its stored record: five minutes.
  static let storingLagMicroseconds: Int64 = 300 * 1_000_000

  /// Applies all data that a server has sent up to one moment.
  ///
  /// Outdated documents are ignored; targets without listeners do not change.
  /// - Returns: The documents that changed, as they are shown now.
  package mutating func applyServer(_ event: DocumentServerEvent) -> [DocumentKey: Document] {
    for (id, delta) in event.targets { apply(delta, to: id, event) }
    let changed = take(event.documents.map { ($0.key, $0.value, event.version) })
    for key in event.resolvedLimbo {
      edits[key, default: DocumentEdit()].isUsed = true
      candidates.insert(key)
    }
    if event.version > head.lastSnapshot {
      head.lastSnapshot = event.version
      hasNewHead = true
    }
    if edits.count > Self.editLimit { storeEdits() }
    return changed
  }

  private mutating func apply(
    _ delta: DocumentServerEvent.TargetDelta, to id: Int32, _ event: DocumentServerEvent
  ) {
    guard var target = targets[id] else { return }
    for key in delta.removed {
      edits[key, default: DocumentEdit()].targets[id] = false
      candidates.insert(key)
    }
    for key in delta.added { edits[key, default: DocumentEdit()].targets[id] = true }
    target.record.sequence = head.sequence
    if event.mismatched[id] != nil {
      target.record.forgetProgress()
    } else if !delta.resumeToken.isEmpty {
      target.record.resumeToken = delta.resumeToken
      target.record.snapshotVersion = event.version
    }
    targets[id] = target
    if mustStore(target, after: delta) { changedTargets.insert(id) }
  }

  /// Tokens that only move on need not reach the disk each time.
  private func mustStore(
    _ target: ActiveTarget, after delta: DocumentServerEvent.TargetDelta
  ) -> Bool {
    guard let stored = target.stored, !stored.resumeToken.isEmpty else { return true }
    if target.record.resumeToken.isEmpty || delta.changesKeys { return true }
    let lag = Self.storingLagMicroseconds
    let (new, old) = (target.record, stored)
    return new.snapshotVersion.microseconds - old.snapshotVersion.microseconds >= lag
      || new.limboFreeVersion.microseconds - old.limboFreeVersion.microseconds >= lag
  }

  /// Takes in documents as a server had them.
  ///
  /// - Returns: Those that were not outdated, as they are shown now.
  mutating func take(
    _ documents: [(DocumentKey, Document, DocumentVersion)]
  ) -> [DocumentKey: Document] {
    let before = bases(documents.map(\.0))
    var shown: [DocumentKey: Document] = [:]
    for (key, document, readTime) in documents {
      candidates.insert(key)
      let old = before[key]?.document ?? .invalid(key)
      guard let new = DocumentCache.accept(document, over: old) else { continue }
      edits[key, default: DocumentEdit()].contents = (new, readTime)
      shown[key] = pending.show(key, over: new)
    }
    return shown
  }

  /// Returns a cached document's new state after a server's report; `nil` when that is outdated.
  private static func accept(_ document: Document, over old: Document) -> Document? {
    var new = document
    new.localWrites = .none
    if new.state == .missing, new.version == .none { return .invalid(new.key) }
    if old.state == .invalid || new.version > old.version { return new }
    let answers = new.version == old.version && old.localWrites == .committed
    return answers ? new : nil
  }
}
