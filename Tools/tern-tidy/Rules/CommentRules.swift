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
        prose.findings.append(
          Finding(
            file: file.path, line: index + 1, rule: "prose-people",
            message: "“\(word)” — say client, session, caller"))
      }
    }
    return prose
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
