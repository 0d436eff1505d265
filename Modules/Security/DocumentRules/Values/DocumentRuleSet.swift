import TernCore

/// A set of the language of rules; its elements keep the order in which they came.
///
/// Membership follows the equality inside of containers, where `1` and `1.0` differ. Two sets are
/// equal whatever the order of their elements.
package struct DocumentRuleSet: Hashable, Sendable {
  /// The elements, each once.
  package let elements: [DocumentRuleValue]
  /// The same elements for lookups in constant time.
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
///
/// It keeps the keys and not the maps, so that a comparison is made once, however many of its
/// methods a rule calls.
package struct DocumentRuleMapDiff: Hashable, Sendable {
  private let added: [String]
  private let removed: [String]
  private let changed: [String]
  private let unchanged: [String]

  /// Compares a map with the one given to `diff`.
  ///
  /// Both maps are sorted by the bytes of their keys, so one pass over both suffices.
  ///
  /// - Parameters:
  ///   - new: The receiver of `diff`.
  ///   - old: The argument of `diff`; its keys that `new` lacks are the removed ones.
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
