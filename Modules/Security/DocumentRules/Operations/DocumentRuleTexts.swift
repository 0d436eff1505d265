/// The methods of strings that take a regular expression.
///
/// Source: firestore reference, section 6.5.
package enum DocumentRuleTexts {
  package typealias Value = DocumentRuleValue

  /// Calls `matches`, `split` or `replace`.
  ///
  /// - Parameters:
  ///   - pattern: The compiled first argument, where the source has it as a literal.
  ///   - steps: The work that searches may still do.
  /// - Throws: ``DocumentRuleFault/invalidPattern(_:)`` for a computed pattern that is invalid (a
  ///   literal one is checked when the file is loaded), ``DocumentRuleFault/tooLarge`` when the
  ///   steps are used up or the result is too large.
  package static func call(
    _ method: DocumentRuleMethod, _ receiver: Value, _ arguments: [Value],
    _ pattern: DocumentPattern?, steps: inout Int
  ) throws(DocumentRuleFault) -> Value {
    if case .null = receiver { throw .nullValue }
    guard case .string(let text) = receiver, case .string(let source) = arguments.first else {
      throw .method(method.rawValue, of: receiver, arguments)
    }
    let compiled: DocumentPattern
    if let pattern { compiled = pattern } else { compiled = try self.compiled(source) }
    var search = Search(pattern: compiled, text: Array(text.unicodeScalars), steps: steps)
    // Steps are charged for a search that fails as well.
    defer { steps = search.steps }
    switch (method, arguments.count) {
    case (.matches, 1): return .bool(try search.matches())
    case (.split, 1): return .list(try search.split())
    case (.replace, 2):
      guard case .string(let replacement) = arguments[1] else {
        throw .method(method.rawValue, of: receiver, arguments)
      }
      return .string(try search.replace(by: Array(replacement.unicodeScalars)))
    default: throw .method(method.rawValue, of: receiver, arguments)
    }
  }

  private static func compiled(_ source: String) throws(DocumentRuleFault) -> DocumentPattern {
    do {
      return try DocumentPattern(source)
    } catch {
      throw .invalidPattern(error.message)
    }
  }
}

/// The uses of one pattern on one text.
///
/// Positions count Unicode scalars. Groups come as pairs of start and end, the whole match first.
private struct Search {
  let pattern: DocumentPattern
  let text: [Unicode.Scalar]
  var steps: Int

  /// Returns true when the pattern matches the whole text; a match of a part does not count.
  mutating func matches() throws(DocumentRuleFault) -> Bool {
    guard let result = pattern.matchesWhole(text, steps: &steps) else { throw .tooLarge }
    return result
  }

  /// The next match at or behind a position; one that is empty does not touch the one before.
  private mutating func next(
    from start: Int, behind last: Int
  ) throws(DocumentRuleFault) -> [Int]? {
    var start = start
    while start <= text.count {
      let match = pattern.firstMatch(in: text, from: start, steps: &steps)
      if steps < 0 { throw .tooLarge }
      guard let match else { return nil }
      if match[0] == match[1], match[1] == last {
        start = match[1] + 1
        continue
      }
      return match
    }
    return nil
  }

  /// The texts between the matches, without empty ones at the end.
  mutating func split() throws(DocumentRuleFault) -> [DocumentRuleValue] {
    var parts: [String] = []
    var (start, last) = (0, -1)
    while let match = try next(from: start, behind: last) {
      parts.append(string(from: start, to: match[0]))
      (start, last) = (match[1], match[1])
    }
    if parts.isEmpty { return [.string(string(from: 0, to: text.count))] }
    parts.append(string(from: start, to: text.count))
    while parts.last?.isEmpty == true { parts.removeLast() }
    return parts.map { .string($0) }
  }

  private func string(from start: Int, to end: Int) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: text[start..<end])
    return String(view)
  }

  /// The text with each match replaced; `$0` to `$9` stand for groups.
  mutating func replace(by replacement: [Unicode.Scalar]) throws(DocumentRuleFault) -> String {
    var result: [Unicode.Scalar] = []
    var (start, last) = (0, -1)
    while let match = try next(from: start, behind: last) {
      result += text[start..<match[0]]
      try expand(replacement, match, into: &result)
      (start, last) = (match[1], match[1])
      if result.count > DocumentRulesLimits.textBytes / 4 { throw .tooLarge }
    }
    result += text[start...]
    var view = String.UnicodeScalarView()
    view.append(contentsOf: result)
    return String(view)
  }

  /// Appends the replacement of one match: `$n` is a group, a backslash takes the next character
  /// literally.
  ///
  /// - Throws: A fault for a group that the pattern lacks; a group without a part in the match is
  ///   empty.
  private func expand(
    _ replacement: [Unicode.Scalar], _ match: [Int], into result: inout [Unicode.Scalar]
  ) throws(DocumentRuleFault) {
    var index = 0
    while index < replacement.count {
      let scalar = replacement[index]
      let next = index + 1 < replacement.count ? replacement[index + 1] : nil
      index += 1
      if scalar == "\\", let next {
        result.append(next)
        index += 1
      } else if scalar == "$", let next, ("0"..."9").contains(next) {
        let group = Int(next.value - 0x30)
        guard group < pattern.groupCount else { throw .invalidArgument("No group \(group).") }
        if match[group * 2] >= 0 { result += text[match[group * 2]..<match[group * 2 + 1]] }
        index += 1
      } else {
        result.append(scalar)
      }
    }
  }
}
