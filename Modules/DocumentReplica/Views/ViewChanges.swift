import TernCore
import TernQuery

/// The changes of one round of updates to a view, relative to the state before it.
///
/// A document that was touched several times counts once, by its first state and its last.
/// Source: documents reference, section 4.3.
struct ViewChanges {
  /// The state of a document in the view before its first change.
  private struct Before {
    let document: Document?
    let isMutated: Bool
  }

  private let documentsBefore: SortedDocuments
  private var touched: [DocumentKey: Before] = [:]

  init(before documents: SortedDocuments) { documentsBefore = documents }

  /// Notes how a document stands, just before it is changed.
  mutating func note(_ key: DocumentKey, _ document: Document?, isMutated: Bool) {
    // After an empty view, the documents that are there tell what has changed.
    if documentsBefore.isEmpty { return }
    if touched[key] == nil { touched[key] = Before(document: document, isMutated: isMutated) }
  }

  /// Returns the changes for listeners: removals, additions, then the rest; `nil` when every
  /// document is new.
  ///
  /// - Parameters:
  ///   - documents: The view as it is now.
  ///   - current: A document of the view as it is now.
  ///   - isMutated: A test for documents that the view counts as pending now.
  func changes(
    to documents: SortedDocuments, current: (DocumentKey) -> Document?,
    isMutated: (DocumentKey) -> Bool
  ) -> [DocumentViewChange]? {
    if documentsBefore.isEmpty { return documents.isEmpty ? [] : nil }
    var removed: [Document] = []
    var added: [Document] = []
    var kept: [(before: Document, after: Document, kind: DocumentViewChange.Kind)] = []
    for (key, before) in touched {
      switch (before.document, current(key)) {
      case (nil, nil): break
      case (let old?, nil): removed.append(old)
      case (nil, let new?): added.append(new)
      case (let old?, let new?):
        if old.state != new.state {
          kept.append((old, new, .modified))
        } else if before.isMutated != isMutated(key) {
          kept.append((old, new, .metadata))
        }
      }
    }
    var indexer = ChangeIndexer(working: documentsBefore)
    let order = documentsBefore
    for old in removed.sorted(by: { order.compare($0, $1) < 0 }) { indexer.remove(old) }
    for new in added.sorted(by: { order.compare($0, $1) < 0 }) { indexer.add(new) }
    for change in kept.sorted(by: { order.compare($0.after, $1.after) < 0 }) {
      indexer.replace(change.before, by: change.after, change.kind)
    }
    return indexer.changes
  }
}

/// Keeps the working copy that the indices of changes refer to.
private struct ChangeIndexer {
  var working: SortedDocuments
  var changes: [DocumentViewChange] = []

  init(working: SortedDocuments) { self.working = working }

  mutating func remove(_ old: Document) {
    let index = working.remove(old)
    changes.append(
      DocumentViewChange(kind: .removed, document: old, oldIndex: index, newIndex: nil))
  }

  mutating func add(_ new: Document) {
    let index = working.insert(new)
    changes.append(DocumentViewChange(kind: .added, document: new, oldIndex: nil, newIndex: index))
  }

  mutating func replace(_ old: Document, by new: Document, _ kind: DocumentViewChange.Kind) {
    let oldIndex = working.remove(old)
    let newIndex = working.insert(new)
    changes.append(
      DocumentViewChange(kind: kind, document: new, oldIndex: oldIndex, newIndex: newIndex))
  }
}
