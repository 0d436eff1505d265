/// Turns the syntax of a regular expression into instructions; repetitions are written out.
///
/// Targets of jumps are absolute. An instruction whose target is not known yet is emitted as
/// `match` and replaced later.
struct DocumentPatternBuilder {
  private(set) var instructions: [DocumentPattern.Instruction] = []
  private(set) var classes: [DocumentPatternClass] = []

  /// Adds one instruction.
  ///
  /// - Throws: A problem beyond ``DocumentRulesLimits/patternInstructions``, which also bounds the
  ///   time that writing out nested repetitions takes.
  mutating func emit(
    _ instruction: DocumentPattern.Instruction
  ) throws(DocumentPatternError) {
    if instructions.count >= DocumentRulesLimits.patternInstructions {
      throw DocumentPatternError(message: "the pattern is too large")
    }
    instructions.append(instruction)
  }

  /// Adds the instructions of a part of the pattern.
  mutating func add(_ node: DocumentPatternSyntax) throws(DocumentPatternError) {
    switch node {
    case .character(let characters):
      try emit(.character(classes.count))
      classes.append(characters)
    case .assertion(let assertion): try emit(.assert(assertion))
    case .sequence(let parts): for part in parts { try add(part) }
    case .alternatives(let parts): try addAlternatives(parts)
    case .group(let number, let inner):
      try emit(.save(number * 2))
      try add(inner)
      try emit(.save(number * 2 + 1))
    case .repeated(let inner, let least, let most, let isGreedy):
      try addRepeated(inner, least, most, isGreedy)
    }
  }

  /// Adds alternatives: before each one but the last a split to the next, behind it a jump to the
  /// end.
  private mutating func addAlternatives(
    _ parts: [DocumentPatternSyntax]
  ) throws(DocumentPatternError) {
    var jumps: [Int] = []
    for (index, part) in parts.enumerated() {
      if index == parts.count - 1 {
        try add(part)
        continue
      }
      let split = instructions.count
      try emit(.match)
      try add(part)
      jumps.append(instructions.count)
      try emit(.match)
      instructions[split] = .split(split + 1, instructions.count)
    }
    for jump in jumps { instructions[jump] = .jump(instructions.count) }
  }

  /// Adds `least` copies, then a loop without an upper bound, or optional copies up to `most`, each
  /// of which may leave to the end.
  private mutating func addRepeated(
    _ inner: DocumentPatternSyntax, _ least: Int, _ most: Int?, _ isGreedy: Bool
  ) throws(DocumentPatternError) {
    for _ in 0..<least {
      // A repeated part without instructions must not be walked over a thousand times a thousand.
      let count = instructions.count
      try add(inner)
      if instructions.count == count { break }
    }
    guard let most else {
      let split = instructions.count
      try emit(.match)
      try add(inner)
      try emit(.jump(split))
      set(split, to: instructions.count, isGreedy)
      return
    }
    var splits: [Int] = []
    for _ in least..<max(least, most) {
      splits.append(instructions.count)
      try emit(.match)
      try add(inner)
    }
    for split in splits { set(split, to: instructions.count, isGreedy) }
  }

  /// Makes a place that continues behind it or at `end`.
  private mutating func set(_ split: Int, to end: Int, _ isGreedy: Bool) {
    instructions[split] = isGreedy ? .split(split + 1, end) : .split(end, split + 1)
  }
}
