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

  private(set) var entries: [Entry] = []
  /// The number of rules that were asked and are not kept.
  private(set) var omitted = 0

  mutating func add(_ entry: Entry) {
    if entries.count >= RulesLimits.explainedRules {
      // There are fewer nodes on the way to a path than entries.
      let index = entries.firstIndex { $0.isHeld || !$0.path.contains(entry.path) } ?? 0
      entries.remove(at: index)
      omitted += 1
    }
    entries.append(entry)
  }
}
