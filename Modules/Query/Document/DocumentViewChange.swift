public import TernCore

/// The change of one document's position in a result.
///
/// Source: documents reference, section 4.3.
public struct DocumentViewChange: Hashable, Sendable {
  /// The kind of change.
  public enum Kind: Hashable, Sendable {
    /// The document is new in the result.
    case added
    /// The document is still in it, with other contents.
    case modified
    /// The document is still in it, with the same contents and other pending writes.
    case metadata
    /// The document is no longer in it.
    case removed
  }

  /// The kind of change.
  public let kind: Kind
  /// The document as it is now; as it was last when it was removed.
  public let document: Document
  /// The position before, with earlier changes of the list applied; `nil` for an addition.
  public let oldIndex: Int?
  /// The position after, with this change applied too; `nil` for a removal.
  public let newIndex: Int?

  /// Describes a change.
  package init(kind: Kind, document: Document, oldIndex: Int?, newIndex: Int?) {
    self.kind = kind
    self.document = document
    self.oldIndex = oldIndex
    self.newIndex = newIndex
  }

  /// Returns the changes that lead from one result of a query to another: removals, then additions,
  /// then the rest.
  ///
  /// Within each group changes come in the query's order. Applied one after the other to the old
  /// list they give the new one.
  ///
  /// - Parameters:
  ///   - old: The result so far, in the query's order.
  ///   - new: The result now, in the query's order.
  ///   - query: The query.
  /// - Complexity: O(*n*), and O(*m* log *n*) comparisons and O(*m* *n*) moves of indices for
  ///   *m* documents that were modified.
  public static func changes(
    from old: [Document], to new: [Document], of query: DocumentQuery
  ) -> [DocumentViewChange] {
    var builder = ChangeBuilder(DocumentOrdering(query.normalizedOrders))
    builder.compare(old, new)
    return builder.changes
  }
}

/// Works out changes and keeps the working copy that their indices refer to.
///
/// The working copy is the old result with all changes so far applied, which is what the indices of
/// the next change refer to.
private struct ChangeBuilder {
  private let ordering: DocumentOrdering
  private var working: [Document] = []
  private(set) var changes: [DocumentViewChange] = []

  init(_ ordering: DocumentOrdering) { self.ordering = ordering }

  /// Works in three passes, in the order of the events: removals, additions, modifications.
  mutating func compare(_ old: [Document], _ new: [Document]) {
    let current = Dictionary(uniqueKeysWithValues: new.map { ($0.key, $0) })
    remove(old, stillThere: { current[$0] != nil })
    let previous = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0) })
    add(new.filter { previous[$0.key] == nil })
    for document in new {
      guard let before = previous[document.key], before != document else { continue }
      modify(before, document)
    }
  }

  /// Reports removals in the old order, and keeps the others as the working copy.
  private mutating func remove(_ old: [Document], stillThere: (DocumentKey) -> Bool) {
    for (index, document) in old.enumerated() {
      if stillThere(document.key) {
        working.append(document)
      } else {
        changes.append(
          DocumentViewChange(
            kind: .removed, document: document, oldIndex: index - changes.count, newIndex: nil))
      }
    }
  }

  /// Merges the new documents into the working copy, both being in order.
  private mutating func add(_ added: [Document]) {
    var merged: [Document] = []
    merged.reserveCapacity(working.count + added.count)
    var next = 0
    for document in added {
      while next < working.count, ordering.compare(working[next], document) < 0 {
        merged.append(working[next])
        next += 1
      }
      changes.append(
        DocumentViewChange(kind: .added, document: document, oldIndex: nil, newIndex: merged.count))
      merged.append(document)
    }
    merged.append(contentsOf: working[next...])
    working = merged
  }

  /// Reports a modified document. It is moved in the working copy even if no event results, because
  /// its position may depend on it.
  private mutating func modify(_ before: Document, _ after: Document) {
    let oldIndex = position(of: before)
    working.remove(at: oldIndex)
    let newIndex = position(of: after)
    working.insert(after, at: newIndex)
    // A newer version of the same contents is nothing to tell about, unless writes settled.
    let isSame = before.state == after.state
    if isSame, before.localWrites == after.localWrites { return }
    changes.append(
      DocumentViewChange(
        kind: isSame ? .metadata : .modified, document: after, oldIndex: oldIndex,
        newIndex: newIndex))
  }

  /// The index of the first document that does not come before this one.
  private func position(of document: Document) -> Int {
    var low = 0
    var high = working.count
    while low < high {
      let middle = (low + high) / 2
      if ordering.compare(working[middle], document) < 0 {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }
}
