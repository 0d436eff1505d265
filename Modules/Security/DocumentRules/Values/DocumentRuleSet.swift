import TernCore

/// A set of the language of rules; its elements keep the order in which they came.
package struct DocumentRuleSet: Hashable, Sendable {
  /// The elements, each once.
  package let elements: [DocumentRuleValue]
  private let members: Set<DocumentRuleValue>

  /// A set of what a list holds.
  package init(_ list: [DocumentRuleValue]) {
    var members: Set<DocumentRuleValue> = []
    elements = list.filter { members.insert($0).inserted }
    self.members = members
  }

  /// A set of strings.
  init(strings: [String]) { self.init(strings.map { .string($0) }) }

  /// The number of elements.
  package var count: Int { elements.count }

  /// Returns true when a value is an element.
  package func contains(_ value: DocumentRuleValue) -> Bool { members.contains(value) }

  package static func == (left: DocumentRuleSet, right: DocumentRuleSet) -> Bool {
    left.members == right.members
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(members) }
}

/// The comparison of two maps: which keys one has beside the other.
package struct DocumentRuleMapDiff: Hashable, Sendable {
  private let added: [String]
  private let removed: [String]
  private let changed: [String]
  private let unchanged: [String]

  /// Compares a map with the one given to `diff`.
  package init(_ new: DocumentRuleMap, _ old: DocumentRuleMap) {
    let (left, right) = (new.entries, old.entries)
    var (added, removed, changed, unchanged) = ([String](), [String](), [String](), [String]())
    var (i, j) = (0, 0)
    while i < left.count || j < right.count {
      let order =
        i == left.count
        ? 1 : j == right.count ? -1 : left[i].key.compareUTF8(right[j].key)
      if order < 0 {
        added.append(left[i].key)
      } else if order > 0 {
        removed.append(right[j].key)
      } else if left[i].value == right[j].value {
        unchanged.append(left[i].key)
      } else {
        changed.append(left[i].key)
      }
      if order <= 0 { i += 1 }
      if order >= 0 { j += 1 }
    }
    (self.added, self.removed) = (added, removed)
    (self.changed, self.unchanged) = (changed, unchanged)
  }

  /// The keys that a method of the comparison returns; `nil` for another method.
  package func keys(_ method: DocumentRuleMethod) -> DocumentRuleSet? {
    switch method {
    case .addedKeys: DocumentRuleSet(strings: added)
    case .removedKeys: DocumentRuleSet(strings: removed)
    case .changedKeys: DocumentRuleSet(strings: changed)
    case .unchangedKeys: DocumentRuleSet(strings: unchanged)
    case .affectedKeys: DocumentRuleSet(strings: added + removed + changed)
    default: nil
    }
  }
}
