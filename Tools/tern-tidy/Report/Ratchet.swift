/// The findings that are known, by rule and subject: they may become fewer, never more.
struct Ratchet: Equatable, Sendable {
  struct Key: Hashable, Comparable, Sendable {
    let rule: String
    let subject: String

    static func < (left: Key, right: Key) -> Bool {
      (left.rule, left.subject) < (right.rule, right.subject)
    }
  }

  /// The most that is accepted for each key; 0 for every other.
  private(set) var known: [Key: Int] = [:]

  /// Reads lines of `rule [subject] figure`; `#` begins a comment.
  init(_ text: String) throws {
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      guard (2...3).contains(words.count), let figure = Int(words[words.count - 1]), figure > 0
      else { throw Command.Failure(description: "Tools/tidy.known: cannot read \(line)") }
      known[Key(rule: String(words[0]), subject: words.count == 3 ? String(words[1]) : "")] = figure
    }
  }

  /// The findings beyond what is known, and the number that is.
  ///
  /// When a rule with many findings is broken, those in `changed` files are the likely cause: only
  /// they are listed, if there are any.
  func apply(
    to findings: [Finding], changed: Set<String>
  ) -> (failing: [Finding], known: Int) {
    var (failing, count) = ([Finding](), 0)
    for (key, group) in Self.groups(findings) {
      let (total, figure) = (group.reduce(0) { $0 + $1.amount }, known[key] ?? 0)
      if total <= figure {
        count += group.count
        continue
      }
      let recent = group.filter { changed.contains($0.file) }
      failing += figure == 0 || recent.isEmpty ? group : recent
      if figure > 0 {
        failing.append(
          Finding(
            file: Self.path, line: 0, rule: key.rule,
            message: "\(total) instead of at most \(figure) \(key.subject)"))
      }
    }
    return (failing.sorted(), count)
  }

  /// The ratchet with every figure lowered to what `findings` still have; no figure rises.
  func lowered(to findings: [Finding]) -> Ratchet {
    var lowered = self
    let totals = Self.groups(findings).mapValues { $0.reduce(0) { $0 + $1.amount } }
    for (key, figure) in known {
      lowered.known[key] = totals[key].map { min($0, figure) }
    }
    return lowered
  }

  var text: String {
    Self.heading
      + known.sorted { $0.key < $1.key }.map { key, figure in
        ([key.rule] + (key.subject.isEmpty ? [] : [key.subject]) + ["\(figure)"])
          .joined(separator: " ") + "\n"
      }.joined()
  }

  static let path = "Tools/tidy.known"

  private static let heading = """
    # Findings that are known, by rule and subject. A figure may fall, never rise: Tools/tidy --lower
    # writes the present ones.

    """

  private static func groups(_ findings: [Finding]) -> [Key: [Finding]] {
    Dictionary(grouping: findings) { Key(rule: $0.rule, subject: $0.subject) }
  }
}
