package import TernCore
import TernQuery
import TernStorage

// What a server tells. Source: documents reference, sections 5.5 and 5.8.
extension DocumentCache {
  /// Applies all data that a server has sent up to one moment.
  ///
  /// Outdated documents are ignored; targets without listeners do not change.
  /// - Returns: The documents that changed, as they are shown now, in the order of keys.
  package mutating func applyServer(_ event: DocumentServerEvent) -> [Document] {
    var event = event
    event.documents.sortByKey()
    stored.edits.reserve(event.documents.count)
    for (id, delta) in event.targets { stored.apply(delta, to: id, event) }
    let changed = take(event.documents, asOf: event.version)
    for key in event.resolvedLimbo {
      stored.edits.update(key) { $0.isUsed = true }
      stored.candidates.insert(key)
    }
    if event.version > stored.rows.head.lastSnapshot {
      stored.rows.head.lastSnapshot = event.version
      stored.hasNewHead = true
    }
    if stored.edits.count > BaseCache.editLimit { stored.storeEdits() }
    return changed
  }

  /// Takes in documents as a server had them at one moment, each key once.
  ///
  /// - Returns: Those that were not outdated, as they are shown now.
  private mutating func take(_ documents: [Document], asOf version: DocumentVersion) -> [Document] {
    let before = stored.bases(documents.lazy.map(\.key))
    var shown: [Document] = []
    shown.reserveCapacity(documents.count)
    for (index, document) in documents.enumerated() {
      let old = before[document.key]?.document
      if let new = take(document, over: old, asOf: version, near: index) {
        shown.append(pending.show(document.key, over: new, after: old))
      }
    }
    return shown
  }

  /// Takes in documents of a bundle, each with the version as of which it was read.
  ///
  /// - Returns: Those that were not outdated, as they are shown now.
  mutating func take(_ documents: [BundledDocument]) -> [DocumentKey: Document] {
    let before = stored.bases(documents.lazy.map(\.document.key))
    var shown: [DocumentKey: Document] = [:]
    for bundled in documents {
      let key = bundled.document.key
      let old = before[key]?.document
      if let new = take(bundled.document, over: old, asOf: bundled.readTime) {
        // A bundle may have a document twice: then `old` is not what is shown.
        shown[key] = pending.show(key, over: new)
      }
    }
    return shown
  }

  /// Takes in one document.
  ///
  /// - Parameter position: The position at which its edit may be.
  /// - Returns: The document as the server has it now; `nil` when it is outdated.
  private mutating func take(
    _ document: Document, over old: Document?, asOf version: DocumentVersion,
    near position: Int = .max
  ) -> Document? {
    if settings.isEager { stored.candidates.insert(document.key) }
    guard let new = DocumentCache.accept(document, over: old) else { return nil }
    stored.edits.update(document.key, near: position) { $0.contents = (new, version) }
    return new
  }

  /// Returns a cached document's new state after a server's report; `nil` when that is outdated.
  private static func accept(_ document: Document, over old: Document?) -> Document? {
    var new = document
    new.localWrites = .none
    if case .missing = new.state, new.version == .none { return .invalid(new.key) }
    guard let old else { return new }
    if case .invalid = old.state { return new }
    if new.version > old.version { return new }
    let answers = new.version == old.version && old.localWrites == .committed
    return answers ? new : nil
  }
}

extension [Document] {
  /// Brings documents into the order of their keys, in which a server sends most results.
  ///
  /// - Complexity: O(*n*) when they are in that order.
  mutating func sortByKey() {
    for index in indices.dropFirst() where self[index].key < self[index - 1].key {
      let order = indices.sorted { self[$0].key < self[$1].key }
      self = order.map { self[$0] }
      return
    }
  }
}

extension [DocumentKey: Document] {
  /// The documents in the order of their keys: that of a dictionary differs from run to run, and
  /// events must not.
  var sortedByKey: [Document] {
    var documents = Array(values)
    documents.sortByKey()
    return documents
  }
}
