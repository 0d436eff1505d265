package import TernCore
import TernQuery
import TernStorage

// What a server tells. Source: documents reference, sections 5.5 and 5.8.
extension DocumentCache {
  /// Applies all data that a server has sent up to one moment.
  ///
  /// Outdated documents are ignored; targets without listeners do not change.
  /// - Returns: The documents that changed, as they are shown now.
  package mutating func applyServer(_ event: DocumentServerEvent) -> [DocumentKey: Document] {
    for (id, delta) in event.targets { stored.apply(delta, to: id, event) }
    let changed = take(event.documents.map { ($0.key, $0.value, event.version) })
    for key in event.resolvedLimbo {
      stored.edits[key, default: DocumentEdit()].isUsed = true
      stored.candidates.insert(key)
    }
    if event.version > stored.rows.head.lastSnapshot {
      stored.rows.head.lastSnapshot = event.version
      stored.hasNewHead = true
    }
    if stored.edits.count > BaseCache.editLimit { stored.storeEdits() }
    return changed
  }

  /// Takes in documents as a server had them.
  ///
  /// - Returns: Those that were not outdated, as they are shown now.
  mutating func take(
    _ documents: [(DocumentKey, Document, DocumentVersion)]
  ) -> [DocumentKey: Document] {
    let before = stored.bases(documents.map(\.0))
    var shown: [DocumentKey: Document] = [:]
    shown.reserveCapacity(documents.count)
    for (key, document, readTime) in documents {
      stored.candidates.insert(key)
      let old = before[key]?.document ?? .invalid(key)
      guard let new = DocumentCache.accept(document, over: old) else { continue }
      stored.edits[key, default: DocumentEdit()].contents = (new, readTime)
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
