import TernTestKit

/// A regular expression matched the slow and obvious way, by trying everything.
struct NaivePattern {
  indirect enum Node {
    case character(Character)
    case any
    case set([ClosedRange<Character>], isNegated: Bool)
    case sequence([Node])
    case choice([Node])
    case repeated(Node, Int, Int?)
  }

  var isAnchoredAtStart: Bool
  var isAnchoredAtEnd: Bool
  var body: Node

  func matches(_ text: String, ignoringCase: Bool) -> Bool {
    let characters = Array(ignoringCase ? text.lowercased() : text)
    let starts = isAnchoredAtStart ? 0...0 : 0...characters.count
    return starts.contains { start in
      Self.match(body, characters, start) { !isAnchoredAtEnd || $0 == characters.count }
    }
  }

  /// Calls `next` with every place where a match of `node` from `place` could end, until one will
  /// do. Patterns are made of lower case only, so that lowering the text puts case aside.
  private static func match(
    _ node: Node, _ text: [Character], _ place: Int, _ next: (Int) -> Bool
  ) -> Bool {
    switch node {
    case .character(let wanted):
      return place < text.count && text[place] == wanted && next(place + 1)
    case .any: return place < text.count && next(place + 1)
    case .set(let ranges, let isNegated):
      guard place < text.count else { return false }
      return ranges.contains { $0.contains(text[place]) } != isNegated && next(place + 1)
    case .sequence(let items):
      guard let first = items.first else { return next(place) }
      return match(first, text, place) {
        match(.sequence(Array(items.dropFirst())), text, $0, next)
      }
    case .choice(let items): return items.contains { match($0, text, place, next) }
    case .repeated(let item, let least, let most):
      if least > 0 {
        return match(item, text, place) {
          match(.repeated(item, least - 1, most.map { $0 - 1 }), text, $0, next)
        }
      }
      if next(place) { return true }
      guard most != 0 else { return false }
      return match(item, text, place) { end in
        end > place && match(.repeated(item, 0, most.map { $0 - 1 }), text, end, next)
      }
    }
  }

  var text: String {
    (isAnchoredAtStart ? "^" : "") + Self.text(body) + (isAnchoredAtEnd ? "$" : "")
  }

  private static func text(_ node: Node) -> String {
    switch node {
    case .character(let character): return String(character)
    case .any: return "."
    case .set(let ranges, let isNegated):
      let list = ranges.map {
        $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
      }
      return "[" + (isNegated ? "^" : "") + list.joined() + "]"
    case .sequence(let items): return items.map(text).joined()
    case .choice(let items): return "(" + items.map(text).joined(separator: "|") + ")"
    case .repeated(let item, let least, let most):
      let inner = if case .sequence = item { "(\(text(item)))" } else { text(item) }
      switch (least, most) {
      case (0, nil): return inner + "*"
      case (1, nil): return inner + "+"
      case (0, 1): return inner + "?"
      case (let n, nil): return inner + "{\(n),}"
      case (let n, let m?) where n == m: return inner + "{\(n)}"
      case (let n, let m?): return inner + "{\(n),\(m)}"
      }
    }
  }

  static func random(_ random: inout SeededGenerator) -> NaivePattern {
    NaivePattern(
      isAnchoredAtStart: .random(using: &random), isAnchoredAtEnd: .random(using: &random),
      body: node(&random, depth: 3, isRepeated: false))
  }

  static func randomText(_ random: inout SeededGenerator) -> String {
    String(
      (0..<Int.random(in: 0...8, using: &random)).map { _ in "abcABé".randomElement(using: &random)!
      })
  }

  private static func node(_ random: inout SeededGenerator, depth: Int, isRepeated: Bool) -> Node {
    let kinds = depth == 0 ? 4 : 8
    switch Int.random(in: 0..<kinds, using: &random) {
    case 0, 1: return .character("abcé".randomElement(using: &random)!)
    case 2: return .any
    case 3: return .set(["a"..."b", "é"..."é"], isNegated: .random(using: &random))
    case 4, 5:
      let count = Int.random(in: 1...3, using: &random)
      return .sequence((0..<count).map { _ in node(&random, depth: depth - 1, isRepeated: false) })
    case 6:
      let count = Int.random(in: 1...3, using: &random)
      return .choice((0..<count).map { _ in node(&random, depth: depth - 1, isRepeated: false) })
    default:
      if isRepeated { return .character("a") }
      let least = Int.random(in: 0...2, using: &random)
      let most = Bool.random(using: &random) ? least + Int.random(in: 0...2, using: &random) : nil
      let item = node(&random, depth: depth - 1, isRepeated: true)
      return .repeated(item, least, most)
    }
  }
}
