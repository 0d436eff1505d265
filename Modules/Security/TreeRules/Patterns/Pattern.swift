/// A compiled regular expression that reads each character of a text once.
///
/// It is an automaton without empty moves: one state per character position of the pattern, the
/// set of live states kept as bits. Time is linear in the text, memory fixed when the rules load.
///
/// Two things differ from a search by attempts. A match may begin at any character, so the start
/// positions are live again before each one; and an alternative with `^` is live only before the
/// first character. A pattern of up to 64 positions fits one machine word, which has its own loop.
final class Pattern: Sendable {
  /// The number of 64-bit words in a set of positions.
  private let width: Int
  /// The first positions of branches behind `^`, live only at the start of the text.
  private let startsAnchored: [UInt64]
  /// The first positions of all other branches.
  private let startsAnywhere: [UInt64]
  /// The last positions of branches before `$`, which match only if the text ends there.
  private let endsAnchored: [UInt64]
  /// The last positions of all other branches; reaching one ends the search.
  private let endsAnywhere: [UInt64]
  /// For each position the positions that may come next.
  ///
  /// Row *p* has `width` words and begins at *p* × `width`.
  private let follow: [UInt64]
  /// For each ASCII character the positions that accept it.
  ///
  /// Row *c* has `width` words and begins at *c* × `width`; characters beyond ASCII are asked of
  /// ``classes``.
  private let accepting: [UInt64]
  private let classes: [CharacterClass]
  /// True when some branch can be empty and lacks an anchor: it matches in every text.
  private let matchesAll: Bool
  /// True when a branch between `^` and `$` can be empty.
  private let matchesEmpty: Bool

  /// The bytes its tables take.
  var tableBytes: Int { (follow.count + accepting.count) * 8 + classes.count * 64 }

  /// Builds the automaton.
  ///
  /// - Throws: A fault at `offset` when the pattern has more than `limit` positions.
  init(_ syntax: PatternSyntax, limit: Int, at offset: Int) throws(RulesSyntaxError) {
    var builder = PatternBuilder(limit: limit, offset: offset)
    var (anchoredFirst, first, anchoredLast, last) = ([Int](), [Int](), [Int](), [Int]())
    var (matchesAll, matchesEmpty) = (false, false)
    for (index, branch) in syntax.branches.enumerated() {
      let part = try builder.add(branch)
      let isAtStart = index == 0 && syntax.isAnchoredAtStart
      let isAtEnd = index == syntax.branches.count - 1 && syntax.isAnchoredAtEnd
      if isAtStart { anchoredFirst += part.first } else { first += part.first }
      if isAtEnd { anchoredLast += part.last } else { last += part.last }
      if part.isOptional, isAtStart, isAtEnd { matchesEmpty = true }
      if part.isOptional, !(isAtStart && isAtEnd) { matchesAll = true }
    }
    let width = max(1, (builder.classes.count + 63) / 64)
    func bits(_ positions: [Int]) -> [UInt64] {
      var words = [UInt64](repeating: 0, count: width)
      for position in positions { words[position / 64] |= 1 << UInt64(position % 64) }
      return words
    }
    self.width = width
    (startsAnchored, startsAnywhere) = (bits(anchoredFirst), bits(first))
    (endsAnchored, endsAnywhere) = (bits(anchoredLast), bits(last))
    classes = builder.classes
    follow = builder.follow.flatMap { $0.prefix(width) }
    accepting = Self.table(of: builder.classes, width: width)
    (self.matchesAll, self.matchesEmpty) = (matchesAll, matchesEmpty)
  }

  /// Transposes the classes: from the characters of each position to the positions of each
  /// character.
  private static func table(of classes: [CharacterClass], width: Int) -> [UInt64] {
    var table = [UInt64](repeating: 0, count: 128 * width)
    for (position, characters) in classes.enumerated() {
      let (low, high) = characters.asciiBits
      for (base, word) in [(0, low), (64, high)] {
        var rest = word
        while rest != 0 {
          let code = base + rest.trailingZeroBitCount
          table[code * width + position / 64] |= 1 << UInt64(position % 64)
          rest &= rest - 1
        }
      }
    }
    return table
  }

  /// Returns true when the pattern occurs in `text`.
  ///
  /// - Parameter steps: The work still allowed. It is reduced by one for each character and each
  ///   eight live states; below zero the search was abandoned and the answer means nothing.
  func matches(_ text: String, steps: inout Int) -> Bool {
    if matchesAll || (matchesEmpty && text.isEmpty) { return true }
    return width == 1 ? matchesNarrow(text, steps: &steps) : matchesWide(text, steps: &steps)
  }

  /// Searches with a set of live positions in one word.
  private func matchesNarrow(_ text: String, steps: inout Int) -> Bool {
    let always = startsAnywhere[0]
    var candidates = always | startsAnchored[0]
    var live: UInt64 = 0
    for scalar in text.unicodeScalars {
      guard candidates != 0, steps >= 0 else { return false }
      live = candidates
      if scalar.value < 128 {
        live &= accepting[Int(scalar.value)]
      } else {
        forEachPosition(in: candidates) { position in
          if !classes[position].contains(scalar) { live &= ~(1 << UInt64(position)) }
        }
      }
      if live & endsAnywhere[0] != 0 { return true }
      // Following up to eight live positions costs about as much as one operation.
      steps -= 1 + live.nonzeroBitCount / 8
      candidates = always
      forEachPosition(in: live) { candidates |= follow[$0] }
    }
    return live & endsAnchored[0] != 0
  }

  /// Searches with sets of ``width`` words. The steps grow with the width, as the time does.
  private func matchesWide(_ text: String, steps: inout Int) -> Bool {
    var candidates = zip(startsAnywhere, startsAnchored).map { $0 | $1 }
    var live = [UInt64](repeating: 0, count: width)
    for scalar in text.unicodeScalars {
      var count = 0
      for word in 0..<width {
        live[word] = accepted(candidates[word], word: word, by: scalar)
        if live[word] & endsAnywhere[word] != 0 { return true }
        count += live[word].nonzeroBitCount
      }
      steps -= 1 + (width + count) / 8 + count * width / 8
      if steps < 0 { return false }
      candidates = startsAnywhere
      for word in 0..<width {
        forEachPosition(in: live[word]) { bit in
          let row = (word * 64 + bit) * width
          for column in 0..<width { candidates[column] |= follow[row + column] }
        }
      }
    }
    return zip(live, endsAnchored).contains { $0 & $1 != 0 }
  }

  /// Returns the candidates in one word that accept a character. Beyond ASCII each candidate's
  /// class is asked, because a table over all of Unicode would be too large.
  private func accepted(_ candidates: UInt64, word: Int, by scalar: Unicode.Scalar) -> UInt64 {
    if scalar.value < 128 { return candidates & accepting[Int(scalar.value) * width + word] }
    var live = candidates
    forEachPosition(in: candidates) { bit in
      if !classes[word * 64 + bit].contains(scalar) { live &= ~(1 << UInt64(bit)) }
    }
    return live
  }

  @inline(__always)
  private func forEachPosition(in word: UInt64, _ body: (Int) -> Void) {
    var rest = word
    while rest != 0 {
      body(rest.trailingZeroBitCount)
      rest &= rest - 1
    }
  }
}
