/// The form and the words of comments.
enum CommentRules {
  static let columns = 100

  /// First words that make a summary a question instead of a noun or verb phrase.
  private static let questionWords: Set<Substring> = [
    "What", "Who", "Whose", "Whom", "Whether", "How", "Where", "When", "Which", "Why", "Whoever",
    "Whatever", "Whichever",
  ]

  /// Pronouns that belong to humans; a process is a client, a session, a caller.
  private static let peopleWords: Set<Substring> = [
    "somebody", "nobody", "whoever", "someone", "everybody", "everyone", "anybody", "anyone",
    "whom", "whomever", "people", "person",
  ]

  /// Comments wider than the page; the formatter leaves them alone.
  static func checkWidth(_ file: SourceFile) -> [Finding] {
    file.lines.indices.compactMap { index in
      guard file.lines[index].utf8.count > columns, file.lines[index].count > columns,
        file.comment(on: index) != nil
      else { return nil }
      return Finding(
        file: file.path, line: index + 1, rule: "comment-width",
        message: "\(file.lines[index].count) columns, at most \(columns)")
    }
  }

  /// The counts and findings of one file's comments.
  struct Prose {
    var lines = 0
    var summaries = 0
    var findings: [Finding] = []
  }

  static func prose(of file: SourceFile) -> Prose {
    var prose = Prose()
    var isInside = false
    for index in file.lines.indices {
      guard let comment = file.comment(on: index) else {
        isInside = false
        continue
      }
      prose.lines += 1
      let isDocumentation = comment.hasPrefix("///")
      if isDocumentation, !isInside {
        prose.summaries += 1
        if let word = firstWord(of: comment), questionWords.contains(word) {
          prose.findings.append(
            Finding(
              file: file.path, line: index + 1, rule: "prose-summary",
              message: "the summary begins with \(word)"))
        }
      }
      isInside = isDocumentation
      if let word = personWord(in: comment) {
        prose.findings.append(people(word, file.path, index))
      }
    }
    return prose
  }

  /// Pronouns of humans in a page of the documentation, outside of its code.
  static func checkPage(_ path: String, _ text: String) -> [Finding] {
    var isCode = false
    return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap {
      index, line in
      if line.drop(while: { $0 == " " }).hasPrefix("```") { isCode.toggle() }
      // Every second part stands between backquotes.
      let prose = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset.isMultiple(of: 2) }.map { String($0.element) }.joined(separator: " ")
      guard !isCode, let word = personWord(in: prose[...]) else { return nil }
      return people(word, path, index)
    }
  }

  /// Pronouns of humans in the names of tests and suites.
  static func checkNames(_ file: SourceFile) -> [Finding] {
    guard file.area == "Tests" else { return [] }
    return file.lines.indices.compactMap { index in
      let line = file.lines[index].drop { $0 == " " }
      guard ["@Test(", "@Suite("].contains(where: line.hasPrefix) else { return nil }
      // A long name begins on the line below.
      let isBelow = !line.contains("\"") && index + 1 < file.lines.count
      let place = isBelow ? index + 1 : index
      let name = file.lines[place].drop { $0 != "\"" }.dropFirst().prefix { $0 != "\"" }
      return personWord(in: name).map { people($0, file.path, place) }
    }
  }

  private static func people(_ word: Substring, _ path: String, _ index: Int) -> Finding {
    Finding(
      file: path, line: index + 1, rule: "prose-people",
      message: "“\(word)” — say client, session, caller")
  }

  private static func firstWord(of comment: Substring) -> Substring? {
    comment.drop { $0 == "/" || $0 == " " }.prefix { $0.isLetter }
  }

  private static func personWord(in comment: Substring) -> Substring? {
    let words = comment.split { !$0.isLetter }
    if let word = words.first(where: { peopleWords.contains($0.lowercased()[...]) }) {
      return word
    }
    for (first, second) in zip(words, words.dropFirst())
    where second == "one" && (first == "no" || first == "No") {
      return second
    }
    return nil
  }
}
