import TernCore

/// The rules that were asked about one request, as far as they may be explained.
///
/// A write of many paths asks some rules for each of them. The latest are kept, and those that did
/// not grant a path above: they are not asked again below it.
struct AskedRules {
  /// One rule with its outcome.
  struct Entry {
    let rule: Int
    let outcome: RuleEvaluator.Outcome
    let path: TreePath
    /// The values met, by operation.
    let trace: [Int: RuleValue]

    fileprivate var isHeld: Bool {
      if case .holds = outcome { true } else { false }
    }
  }

  /// The entries in the order of evaluation, at most ``RulesLimits/explainedRules``.
  private(set) var entries: [Entry] = []
  /// The number of rules that were asked and are not kept.
  private(set) var omitted = 0

  mutating func add(_ entry: Entry) {
    if entries.count >= RulesLimits.explainedRules {
      // There are fewer nodes on the way to a path than entries.
      // The entry to drop is one that granted, or one at a node that is not above the current path:
      // the denial of a path is explained by the rules above it. The fallback drops the oldest.
      let index = entries.firstIndex { $0.isHeld || !$0.path.contains(entry.path) } ?? 0
      entries.remove(at: index)
      omitted += 1
    }
    entries.append(entry)
  }
}
