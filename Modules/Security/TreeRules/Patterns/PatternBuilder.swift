/// Numbers the positions of a pattern and finds which may follow which.
///
/// The construction is Glushkov's: every part knows its first and last positions, and joining two
/// parts links the last ones of one to the first ones of the other.
///
/// The work is bounded twice: by the number of positions, and by the number of links, which nested
/// repetitions such as `((a?){9}){9}` can square.
struct PatternBuilder {
  /// A part of the pattern by the positions at its edges.
  struct Part {
    var first: [Int] = []
    var last: [Int] = []
    /// True when it matches nothing at all.
    var isOptional = true
  }

  private(set) var classes: [CharacterClass] = []
  /// For each position the set of those that may come next, as bits.
  private(set) var follow: [[UInt64]] = []
  private let limit: Int
  private let offset: Int
  /// The parts visited and links made so far; the limit is two for each pair of positions.
  private var work = 0

  init(limit: Int, offset: Int) {
    self.limit = limit
    self.offset = offset
  }

  /// Adds the positions of `node`, repetitions written out.
  mutating func add(_ node: PatternSyntax.Node) throws(RulesSyntaxError) -> Part {
    work += 1
    guard classes.count < limit, work <= limit * limit * 2 else {
      throw RulesSyntaxError("the pattern is too large: more than \(limit) characters", at: offset)
    }
    switch node {
    case .one(let characters):
      classes.append(characters)
      follow.append([UInt64](repeating: 0, count: (limit + 63) / 64))
      let position = classes.count - 1
      return Part(first: [position], last: [position], isOptional: false)
    case .sequence(let items):
      var whole = Part()
      for item in items { whole = join(whole, try add(item)) }
      return whole
    case .alternatives(let items):
      var whole = Part(isOptional: false)
      for item in items {
        let part = try add(item)
        whole.first += part.first
        whole.last += part.last
        whole.isOptional = whole.isOptional || part.isOptional
      }
      return whole
    case .repeated(let item, let least, let most):
      return try addRepeated(item, least: least, most: most)
    }
  }

  /// Writes a repetition out: `least` copies, then optional ones up to `most`, or one copy that is
  /// linked back to itself without an upper bound.
  private mutating func addRepeated(
    _ item: PatternSyntax.Node, least: Int, most: Int?
  ) throws(RulesSyntaxError) -> Part {
    var whole = Part()
    for _ in 0..<least { whole = join(whole, try add(item)) }
    guard let most else {
      var part = try add(item)
      link(part.last, to: part.first)
      part.isOptional = true
      return join(whole, part)
    }
    // x{0,3} is (x(x(x)?)?)?: built from the inside, so that the links stay few.
    var rest = Part()
    for _ in least..<most {
      rest = join(try add(item), rest)
      rest.isOptional = true
    }
    return join(whole, rest)
  }

  /// Links two parts in sequence. An optional part lets the edges of its neighbor shine through.
  private mutating func join(_ left: Part, _ right: Part) -> Part {
    link(left.last, to: right.first)
    return Part(
      first: left.isOptional ? left.first + right.first : left.first,
      last: right.isOptional ? left.last + right.last : right.last,
      isOptional: left.isOptional && right.isOptional)
  }

  private mutating func link(_ sources: [Int], to targets: [Int]) {
    work += sources.count * targets.count
    for source in sources {
      for target in targets { follow[source][target / 64] |= 1 << UInt64(target % 64) }
    }
  }
}
