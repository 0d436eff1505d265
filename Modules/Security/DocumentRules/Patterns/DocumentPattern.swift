/// The reason a text is no regular expression.
struct DocumentPatternError: Error {
  let message: String
}

/// A compiled regular expression in the syntax of RE2, searched in linear time.
///
/// All alternatives advance together over the text, one character at a time, so that no pattern
/// and no text makes a search explode. Source: firestore reference, section 6.5.
///
/// The machine is Pike's: a set of threads, one for each instruction at most, ordered by
/// preference. Time is the length of the text times the number of instructions. ``Pattern`` of the
/// tree rules is simpler and faster, and lacks groups and preferences, which `replace` and `split`
/// need.
package final class DocumentPattern: Sendable {
  /// One instruction of the machine that searches.
  enum Instruction: Sendable {
    /// Consumes a character of a class, by its number.
    ///
    /// The class decides about the next character; the thread continues at the next instruction.
    case character(Int)
    /// Continues at both places, and prefers the first.
    case split(Int, Int)
    case jump(Int)
    /// Keeps the position for the start or end of a group.
    case save(Int)
    /// Continues only if a condition on the position holds; consumes nothing.
    case assert(DocumentPatternSyntax.Assertion)
    /// Ends the thread with a match. The builder also uses it as a placeholder for instructions
    /// that it sets later.
    case match
  }

  let instructions: [Instruction]
  let classes: [DocumentPatternClass]
  /// The number of groups, the whole match included.
  let groupCount: Int

  /// Compiles a pattern.
  ///
  /// - Throws: The problem of the pattern: its syntax, or a size beyond ``DocumentRulesLimits``.
  init(_ text: String) throws(DocumentPatternError) {
    if text.utf8.count > DocumentRulesLimits.patternBytes {
      throw DocumentPatternError(message: "the pattern is too long")
    }
    var parser = DocumentPatternParser(text)
    let syntax = try parser.parse()
    var builder = DocumentPatternBuilder()
    try builder.add(syntax)
    try builder.emit(.match)
    instructions = builder.instructions
    classes = builder.classes
    groupCount = parser.groupCount + 1
  }

  /// Returns true when the pattern matches the whole of a text; `nil` when the steps do not
  /// suffice.
  ///
  /// - Parameters:
  ///   - text: The scalars of the text.
  ///   - steps: The work that is left, reduced by one for each thread and character.
  func matchesWhole(_ text: [Unicode.Scalar], steps: inout Int) -> Bool? {
    var search = DocumentPatternSearch(self, in: text, keepsGroups: false, steps: steps)
    let match = search.run(from: 0, isWhole: true)
    steps = search.steps
    return steps < 0 ? nil : match != nil
  }

  /// Returns the groups of the first match at or behind a position, as pairs of start and end, -1
  /// for a group that took no part; `nil` when there is none, or the steps do not suffice.
  func firstMatch(
    in text: [Unicode.Scalar], from start: Int, steps: inout Int
  ) -> [Int]? {
    var search = DocumentPatternSearch(self, in: text, keepsGroups: true, steps: steps)
    let match = search.run(from: start, isWhole: false)
    steps = search.steps
    return match
  }
}

/// One search of a pattern in a text.
///
/// A value serves one call of ``run(from:isWhole:)``.
struct DocumentPatternSearch {
  /// One way through the pattern.
  ///
  /// Without groups, the array is empty, so that a thread costs no allocation.
  private struct Thread {
    let instruction: Int
    let groups: [Int]
  }

  private let pattern: DocumentPattern
  private let text: [Unicode.Scalar]
  private let keepsGroups: Bool
  /// The work that is left; below zero the result means nothing.
  private(set) var steps: Int
  /// The threads that wait for the character at the current position, most preferred first.
  private var threads: [Thread] = []
  /// For each instruction the last position at which a thread came to it.
  private var visited: [Int]
  /// The instructions to follow without consuming a character, as a stack, so that long chains of
  /// them cannot exhaust the stack of calls.
  private var pending: [Thread] = []

  init(_ pattern: DocumentPattern, in text: [Unicode.Scalar], keepsGroups: Bool, steps: Int) {
    self.pattern = pattern
    self.text = text
    self.keepsGroups = keepsGroups
    self.steps = steps
    visited = [Int](repeating: -1, count: pattern.instructions.count)
  }

  /// Searches from a position on.
  ///
  /// - Parameter isWhole: A match begins at `start` and ends with the text.
  ///
  /// A thread of less preference than one that matched is dropped, which gives the leftmost match
  /// that the pattern prefers, as RE2 does.
  mutating func run(from start: Int, isWhole: Bool) -> [Int]? {
    var match: [Int]?
    let none = keepsGroups ? [Int](repeating: -1, count: pattern.groupCount * 2) : []
    for position in start...text.count {
      if match == nil, !isWhole || position == start { add(0, none, at: position, start: position) }
      if threads.isEmpty || steps < 0 { break }
      let current = threads
      threads.removeAll(keepingCapacity: true)
      scan: for thread in current {
        steps -= 1
        switch pattern.instructions[thread.instruction] {
        case .character(let number):
          if position < text.count, pattern.classes[number].contains(text[position]) {
            add(thread.instruction + 1, thread.groups, at: position + 1, start: start)
          }
        default:
          if isWhole, position != text.count { continue }
          match = thread.groups
          if keepsGroups { match?[1] = position }
          break scan
        }
      }
    }
    return steps < 0 ? nil : match
  }

  /// Adds a thread, and what it reaches without consuming a character.
  ///
  /// Each instruction is entered once at each position: later threads that come to it are less
  /// preferred, and empty loops end.
  private mutating func add(_ instruction: Int, _ groups: [Int], at position: Int, start: Int) {
    var groups = groups
    if keepsGroups, instruction == 0 { groups[0] = position }
    pending.append(Thread(instruction: instruction, groups: groups))
    while let thread = pending.popLast() {
      let number = thread.instruction
      if visited[number] == position { continue }
      visited[number] = position
      steps -= 1
      switch pattern.instructions[number] {
      case .character, .match: threads.append(thread)
      case .jump(let target):
        pending.append(Thread(instruction: target, groups: thread.groups))
      case .split(let first, let second):
        // The preferred branch is pushed last, because the stack returns it first.
        pending.append(Thread(instruction: second, groups: thread.groups))
        pending.append(Thread(instruction: first, groups: thread.groups))
      case .save(let slot):
        var groups = thread.groups
        if keepsGroups { groups[slot] = position }
        pending.append(Thread(instruction: number + 1, groups: groups))
      case .assert(let assertion):
        if holds(assertion, at: position) {
          pending.append(Thread(instruction: number + 1, groups: thread.groups))
        }
      }
    }
  }

  private func holds(_ assertion: DocumentPatternSyntax.Assertion, at position: Int) -> Bool {
    let before = position > 0 ? text[position - 1] : nil
    let after = position < text.count ? text[position] : nil
    switch assertion {
    case .textStart: return position == 0
    case .textEnd: return position == text.count
    case .lineStart: return before == nil || before == "\n"
    case .lineEnd: return after == nil || after == "\n"
    case .wordBoundary: return isWord(before) != isWord(after)
    case .noWordBoundary: return isWord(before) == isWord(after)
    }
  }

  private func isWord(_ scalar: Unicode.Scalar?) -> Bool {
    scalar.map { DocumentPatternClass.word.contains($0) } ?? false
  }
}
